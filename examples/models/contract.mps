* A maximum with a constant of 10, ranges on all kinds of rows, two free columns, negative bounds and one bound only
* from above: free format.
NAME contract FREE
OBJSENSE
    MAX
ROWS
 N profit
 L capacity
 G mix
 E balance
 G debt
COLUMNS
 a profit 3 capacity 1
 a mix 1 balance -1
 b profit 1 capacity 1
 b mix -1 debt -1
 c profit -1 balance 1
 d profit 1 balance 1
 e profit -1 debt 1
RHS
 rhs profit -10 capacity 8
 rhs mix -2 balance 1
 rhs debt -7
RANGES
 rng capacity 5 mix 6
 rng balance -3
BOUNDS
 FR bnd b
 LO bnd c -4
 UP bnd c -1
 MI bnd d
 UP bnd d 6
 FR bnd e
ENDATA
