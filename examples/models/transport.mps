* Two plants supply three cities at least cost; all of the near plant's capacity is wanted: fixed format.
NAME          TRANSPOR
ROWS
 N  COST
 L  NEAR
 L  FAR
 G  CITY1
 G  CITY2
 G  CITY3
COLUMNS
    N1        COST               2.0   NEAR               1.0
    N1        CITY1              1.0
    N2        COST               4.0   NEAR               1.0
    N2        CITY2              1.0
    N3        COST               5.0   NEAR               1.0
    N3        CITY3              1.0
    F1        COST               3.0   FAR                1.0
    F1        CITY1              1.0
    F2        COST               1.0   FAR                1.0
    F2        CITY2              1.0
    F3        COST               7.0   FAR                1.0
    F3        CITY3              1.0
RHS
    RHS       NEAR              20.0   FAR               35.0
    RHS       CITY1             10.0   CITY2             25.0
    RHS       CITY3             15.0
ENDATA
