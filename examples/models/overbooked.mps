* Three machines of at most three jobs each, and ten jobs: infeasible, which propagation proves.
NAME          OVERBOOK
ROWS
 N  COST
 G  JOBS
COLUMNS
    MARK0001  'MARKER'                 'INTORG'
    M1        COST               1.0   JOBS               1.0
    M2        COST               1.0   JOBS               1.0
    M3        COST               1.0   JOBS               1.0
    MARK0002  'MARKER'                 'INTEND'
RHS
    RHS       JOBS              10.0
BOUNDS
 UP BND       M1                 3.0
 UP BND       M2                 3.0
 UP BND       M3                 3.0
ENDATA
