* Two processes, limited by two resources, cannot deliver what is ordered: infeasible, though each row alone can be met.
NAME          SHORTAGE
ROWS
 N  COST
 L  STEEL
 L  POWER
 G  ORDER
COLUMNS
    P1        COST               1.0   STEEL              1.0
    P1        POWER              3.0   ORDER              1.0
    P2        COST               1.0   STEEL              2.0
    P2        POWER              1.0   ORDER              1.0
RHS
    RHS       STEEL              4.0   POWER              6.0
    RHS       ORDER              4.0
ENDATA
