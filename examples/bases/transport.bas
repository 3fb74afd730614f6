* The optimum of transport.mps, 125.
NAME          TRANSPOR
 XU N1        NEAR
 XL N3        CITY1
 XL F1        CITY2
 XL F2        CITY3
ENDATA
