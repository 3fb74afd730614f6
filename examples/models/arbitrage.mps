* Buying and selling in step gains without end: unbounded.
NAME          ARBITRAG
ROWS
 N  COST
 L  STOCK
 L  CREDIT
COLUMNS
    BUY       COST               1.0   STOCK              1.0
    BUY       CREDIT            -1.0
    SELL      COST              -3.0   STOCK             -1.0
    SELL      CREDIT             1.0
RHS
    RHS       STOCK              2.0   CREDIT             3.0
ENDATA
