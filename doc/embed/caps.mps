* Points of the affine space of dimension 3 over three elements that meet every line: as few as possible.
* The others are a cap set, of 9 points at most: the optimum is 27 - 9 = 18. The relaxation has 27 / 3 = 9.
NAME          CAPS
ROWS
 N  COUNT
 G  L1
 G  L2
 G  L3
 G  L4
 G  L5
 G  L6
 G  L7
 G  L8
 G  L9
 G  L10
 G  L11
 G  L12
 G  L13
 G  L14
 G  L15
 G  L16
 G  L17
 G  L18
 G  L19
 G  L20
 G  L21
 G  L22
 G  L23
 G  L24
 G  L25
 G  L26
 G  L27
 G  L28
 G  L29
 G  L30
 G  L31
 G  L32
 G  L33
 G  L34
 G  L35
 G  L36
 G  L37
 G  L38
 G  L39
 G  L40
 G  L41
 G  L42
 G  L43
 G  L44
 G  L45
 G  L46
 G  L47
 G  L48
 G  L49
 G  L50
 G  L51
 G  L52
 G  L53
 G  L54
 G  L55
 G  L56
 G  L57
 G  L58
 G  L59
 G  L60
 G  L61
 G  L62
 G  L63
 G  L64
 G  L65
 G  L66
 G  L67
 G  L68
 G  L69
 G  L70
 G  L71
 G  L72
 G  L73
 G  L74
 G  L75
 G  L76
 G  L77
 G  L78
 G  L79
 G  L80
 G  L81
 G  L82
 G  L83
 G  L84
 G  L85
 G  L86
 G  L87
 G  L88
 G  L89
 G  L90
 G  L91
 G  L92
 G  L93
 G  L94
 G  L95
 G  L96
 G  L97
 G  L98
 G  L99
 G  L100
 G  L101
 G  L102
 G  L103
 G  L104
 G  L105
 G  L106
 G  L107
 G  L108
 G  L109
 G  L110
 G  L111
 G  L112
 G  L113
 G  L114
 G  L115
 G  L116
 G  L117
COLUMNS
    MARK0001  'MARKER'                 'INTORG'
    X0        COUNT              1.0   L1                 1.0
    X0        L2                 1.0   L3                 1.0
    X0        L4                 1.0   L5                 1.0
    X0        L6                 1.0   L7                 1.0
    X0        L8                 1.0   L9                 1.0
    X0        L10                1.0   L11                1.0
    X0        L12                1.0   L13                1.0
    X1        COUNT              1.0   L1                 1.0
    X1        L14                1.0   L15                1.0
    X1        L16                1.0   L17                1.0
    X1        L18                1.0   L19                1.0
    X1        L20                1.0   L21                1.0
    X1        L22                1.0   L23                1.0
    X1        L24                1.0   L25                1.0
    X2        COUNT              1.0   L1                 1.0
    X2        L26                1.0   L27                1.0
    X2        L28                1.0   L29                1.0
    X2        L30                1.0   L31                1.0
    X2        L32                1.0   L33                1.0
    X2        L34                1.0   L35                1.0
    X2        L36                1.0   L37                1.0
    X3        COUNT              1.0   L2                 1.0
    X3        L14                1.0   L26                1.0
    X3        L38                1.0   L39                1.0
    X3        L40                1.0   L41                1.0
    X3        L42                1.0   L43                1.0
    X3        L44                1.0   L45                1.0
    X3        L46                1.0   L47                1.0
    X4        COUNT              1.0   L3                 1.0
    X4        L15                1.0   L27                1.0
    X4        L38                1.0   L48                1.0
    X4        L49                1.0   L50                1.0
    X4        L51                1.0   L52                1.0
    X4        L53                1.0   L54                1.0
    X4        L55                1.0   L56                1.0
    X5        COUNT              1.0   L4                 1.0
    X5        L16                1.0   L28                1.0
    X5        L38                1.0   L57                1.0
    X5        L58                1.0   L59                1.0
    X5        L60                1.0   L61                1.0
    X5        L62                1.0   L63                1.0
    X5        L64                1.0   L65                1.0
    X6        COUNT              1.0   L2                 1.0
    X6        L16                1.0   L27                1.0
    X6        L66                1.0   L67                1.0
    X6        L68                1.0   L69                1.0
    X6        L70                1.0   L71                1.0
    X6        L72                1.0   L73                1.0
    X6        L74                1.0   L75                1.0
    X7        COUNT              1.0   L4                 1.0
    X7        L15                1.0   L26                1.0
    X7        L66                1.0   L76                1.0
    X7        L77                1.0   L78                1.0
    X7        L79                1.0   L80                1.0
    X7        L81                1.0   L82                1.0
    X7        L83                1.0   L84                1.0
    X8        COUNT              1.0   L3                 1.0
    X8        L14                1.0   L28                1.0
    X8        L66                1.0   L85                1.0
    X8        L86                1.0   L87                1.0
    X8        L88                1.0   L89                1.0
    X8        L90                1.0   L91                1.0
    X8        L92                1.0   L93                1.0
    X9        COUNT              1.0   L5                 1.0
    X9        L17                1.0   L29                1.0
    X9        L39                1.0   L48                1.0
    X9        L57                1.0   L67                1.0
    X9        L76                1.0   L85                1.0
    X9        L94                1.0   L95                1.0
    X9        L96                1.0   L97                1.0
    X10       COUNT              1.0   L6                 1.0
    X10       L18                1.0   L30                1.0
    X10       L40                1.0   L49                1.0
    X10       L58                1.0   L68                1.0
    X10       L77                1.0   L86                1.0
    X10       L94                1.0   L98                1.0
    X10       L99                1.0   L100               1.0
    X11       COUNT              1.0   L7                 1.0
    X11       L19                1.0   L31                1.0
    X11       L41                1.0   L50                1.0
    X11       L59                1.0   L69                1.0
    X11       L78                1.0   L87                1.0
    X11       L94                1.0   L101               1.0
    X11       L102               1.0   L103               1.0
    X12       COUNT              1.0   L8                 1.0
    X12       L20                1.0   L32                1.0
    X12       L42                1.0   L51                1.0
    X12       L60                1.0   L70                1.0
    X12       L79                1.0   L88                1.0
    X12       L95                1.0   L98                1.0
    X12       L101               1.0   L104               1.0
    X13       COUNT              1.0   L9                 1.0
    X13       L21                1.0   L33                1.0
    X13       L43                1.0   L52                1.0
    X13       L61                1.0   L71                1.0
    X13       L80                1.0   L89                1.0
    X13       L96                1.0   L99                1.0
    X13       L102               1.0   L104               1.0
    X14       COUNT              1.0   L10                1.0
    X14       L22                1.0   L34                1.0
    X14       L44                1.0   L53                1.0
    X14       L62                1.0   L72                1.0
    X14       L81                1.0   L90                1.0
    X14       L97                1.0   L100               1.0
    X14       L103               1.0   L104               1.0
    X15       COUNT              1.0   L11                1.0
    X15       L23                1.0   L35                1.0
    X15       L45                1.0   L54                1.0
    X15       L63                1.0   L73                1.0
    X15       L82                1.0   L91                1.0
    X15       L95                1.0   L100               1.0
    X15       L102               1.0   L105               1.0
    X16       COUNT              1.0   L12                1.0
    X16       L24                1.0   L36                1.0
    X16       L46                1.0   L55                1.0
    X16       L64                1.0   L74                1.0
    X16       L83                1.0   L92                1.0
    X16       L97                1.0   L99                1.0
    X16       L101               1.0   L105               1.0
    X17       COUNT              1.0   L13                1.0
    X17       L25                1.0   L37                1.0
    X17       L47                1.0   L56                1.0
    X17       L65                1.0   L75                1.0
    X17       L84                1.0   L93                1.0
    X17       L96                1.0   L98                1.0
    X17       L103               1.0   L105               1.0
    X18       COUNT              1.0   L5                 1.0
    X18       L19                1.0   L30                1.0
    X18       L45                1.0   L56                1.0
    X18       L64                1.0   L70                1.0
    X18       L81                1.0   L89                1.0
    X18       L106               1.0   L107               1.0
    X18       L108               1.0   L109               1.0
    X19       COUNT              1.0   L7                 1.0
    X19       L18                1.0   L29                1.0
    X19       L47                1.0   L55                1.0
    X19       L63                1.0   L72                1.0
    X19       L80                1.0   L88                1.0
    X19       L106               1.0   L110               1.0
    X19       L111               1.0   L112               1.0
    X20       COUNT              1.0   L6                 1.0
    X20       L17                1.0   L31                1.0
    X20       L46                1.0   L54                1.0
    X20       L65                1.0   L71                1.0
    X20       L79                1.0   L90                1.0
    X20       L106               1.0   L113               1.0
    X20       L114               1.0   L115               1.0
    X21       COUNT              1.0   L11                1.0
    X21       L25                1.0   L36                1.0
    X21       L42                1.0   L53                1.0
    X21       L61                1.0   L67                1.0
    X21       L78                1.0   L86                1.0
    X21       L107               1.0   L110               1.0
    X21       L113               1.0   L116               1.0
    X22       COUNT              1.0   L13                1.0
    X22       L24                1.0   L35                1.0
    X22       L44                1.0   L52                1.0
    X22       L60                1.0   L69                1.0
    X22       L77                1.0   L85                1.0
    X22       L108               1.0   L111               1.0
    X22       L114               1.0   L116               1.0
    X23       COUNT              1.0   L12                1.0
    X23       L23                1.0   L37                1.0
    X23       L43                1.0   L51                1.0
    X23       L62                1.0   L68                1.0
    X23       L76                1.0   L87                1.0
    X23       L109               1.0   L112               1.0
    X23       L115               1.0   L116               1.0
    X24       COUNT              1.0   L8                 1.0
    X24       L22                1.0   L33                1.0
    X24       L39                1.0   L50                1.0
    X24       L58                1.0   L73                1.0
    X24       L84                1.0   L92                1.0
    X24       L107               1.0   L112               1.0
    X24       L114               1.0   L117               1.0
    X25       COUNT              1.0   L10                1.0
    X25       L21                1.0   L32                1.0
    X25       L41                1.0   L49                1.0
    X25       L57                1.0   L75                1.0
    X25       L83                1.0   L91                1.0
    X25       L109               1.0   L111               1.0
    X25       L113               1.0   L117               1.0
    X26       COUNT              1.0   L9                 1.0
    X26       L20                1.0   L34                1.0
    X26       L40                1.0   L48                1.0
    X26       L59                1.0   L74                1.0
    X26       L82                1.0   L93                1.0
    X26       L108               1.0   L110               1.0
    X26       L115               1.0   L117               1.0
    MARK0002  'MARKER'                 'INTEND'
RHS
    RHS       L1                 1.0   L2                 1.0
    RHS       L3                 1.0   L4                 1.0
    RHS       L5                 1.0   L6                 1.0
    RHS       L7                 1.0   L8                 1.0
    RHS       L9                 1.0   L10                1.0
    RHS       L11                1.0   L12                1.0
    RHS       L13                1.0   L14                1.0
    RHS       L15                1.0   L16                1.0
    RHS       L17                1.0   L18                1.0
    RHS       L19                1.0   L20                1.0
    RHS       L21                1.0   L22                1.0
    RHS       L23                1.0   L24                1.0
    RHS       L25                1.0   L26                1.0
    RHS       L27                1.0   L28                1.0
    RHS       L29                1.0   L30                1.0
    RHS       L31                1.0   L32                1.0
    RHS       L33                1.0   L34                1.0
    RHS       L35                1.0   L36                1.0
    RHS       L37                1.0   L38                1.0
    RHS       L39                1.0   L40                1.0
    RHS       L41                1.0   L42                1.0
    RHS       L43                1.0   L44                1.0
    RHS       L45                1.0   L46                1.0
    RHS       L47                1.0   L48                1.0
    RHS       L49                1.0   L50                1.0
    RHS       L51                1.0   L52                1.0
    RHS       L53                1.0   L54                1.0
    RHS       L55                1.0   L56                1.0
    RHS       L57                1.0   L58                1.0
    RHS       L59                1.0   L60                1.0
    RHS       L61                1.0   L62                1.0
    RHS       L63                1.0   L64                1.0
    RHS       L65                1.0   L66                1.0
    RHS       L67                1.0   L68                1.0
    RHS       L69                1.0   L70                1.0
    RHS       L71                1.0   L72                1.0
    RHS       L73                1.0   L74                1.0
    RHS       L75                1.0   L76                1.0
    RHS       L77                1.0   L78                1.0
    RHS       L79                1.0   L80                1.0
    RHS       L81                1.0   L82                1.0
    RHS       L83                1.0   L84                1.0
    RHS       L85                1.0   L86                1.0
    RHS       L87                1.0   L88                1.0
    RHS       L89                1.0   L90                1.0
    RHS       L91                1.0   L92                1.0
    RHS       L93                1.0   L94                1.0
    RHS       L95                1.0   L96                1.0
    RHS       L97                1.0   L98                1.0
    RHS       L99                1.0   L100               1.0
    RHS       L101               1.0   L102               1.0
    RHS       L103               1.0   L104               1.0
    RHS       L105               1.0   L106               1.0
    RHS       L107               1.0   L108               1.0
    RHS       L109               1.0   L110               1.0
    RHS       L111               1.0   L112               1.0
    RHS       L113               1.0   L114               1.0
    RHS       L115               1.0   L116               1.0
    RHS       L117               1.0
BOUNDS
 UP BND       X0                 1.0
 UP BND       X1                 1.0
 UP BND       X2                 1.0
 UP BND       X3                 1.0
 UP BND       X4                 1.0
 UP BND       X5                 1.0
 UP BND       X6                 1.0
 UP BND       X7                 1.0
 UP BND       X8                 1.0
 UP BND       X9                 1.0
 UP BND       X10                1.0
 UP BND       X11                1.0
 UP BND       X12                1.0
 UP BND       X13                1.0
 UP BND       X14                1.0
 UP BND       X15                1.0
 UP BND       X16                1.0
 UP BND       X17                1.0
 UP BND       X18                1.0
 UP BND       X19                1.0
 UP BND       X20                1.0
 UP BND       X21                1.0
 UP BND       X22                1.0
 UP BND       X23                1.0
 UP BND       X24                1.0
 UP BND       X25                1.0
 UP BND       X26                1.0
ENDATA
