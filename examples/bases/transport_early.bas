* A plan for transport.mps that costs 130: the far plant supplies the first two cities, the near one the third.
NAME          TRANSPOR
 XL N3        CITY3
 XL F1        CITY1
 XL F2        CITY2
ENDATA
