* Free format with names of one letter, which read in fixed columns would run together; integer columns
* without bounds, a range, a free column and bounds of most kinds.
NAME staffing
ROWS
 N cost
 G all
 L gap
 L hours
COLUMNS
 M1 'MARKER' 'INTORG'
 a cost 1 all 1
 b cost 1 all 1
 c cost 1 all 1
 n cost 2 hours 2
 M2 'MARKER' 'INTEND'
 x cost 1 gap 1
 d gap -1
RHS
 rhs all 3 gap 5
 rhs hours 13
RANGES
 rng gap 3
BOUNDS
 LI bnd n 3
 UI bnd n 9
 LO bnd x -10
 UP bnd x 4
 FR bnd d
ENDATA
