* Two periods of production with setups: fixed format.
NAME          LOTSIZING
ROWS
 N  COST
 E  DEMAND1
 E  DEMAND2
 L  SETUP1
 L  SETUP2
COLUMNS
    MAKE1     COST               2.0   DEMAND1            1.0
    MAKE1     SETUP1             1.0
    MAKE2     COST               3.0   DEMAND2            1.0
    MAKE2     SETUP2             1.0
    STOCK1    COST               0.5   DEMAND1           -1.0
    STOCK1    DEMAND2            1.0
    MARK0001  'MARKER'                 'INTORG'
    RUN1      COST              40.0   SETUP1           -80.0
    RUN2      COST              40.0   SETUP2           -80.0
    MARK0002  'MARKER'                 'INTEND'
RHS
    RHS       DEMAND1           30.0   DEMAND2           50.0
BOUNDS
 UP BND       STOCK1            40.0
 UP BND       RUN1               1.0
 UP BND       RUN2               1.0
ENDATA
