export interface Glyph {
  /** SVG path data for a stroke. */
  readonly path: string
  readonly width: number
}

/** Capitals reach from 0 to 6, lower-case letters start at 2, and descenders end at 8. */
export const LINE_HEIGHT = 10
export const GLYPH_GAP = 1.4
export const SPACE_WIDTH = 2.2

/**
 * Returns a letter as strokes. A server often has no fonts, and the image must be the same on every machine, so text is not drawn
 * with installed fonts.
 */
export function findGlyph(character: string): Glyph {
  return GLYPHS.get(character) ?? spellOutCodePoint(character)
}

export function measureGlyph(character: string): number {
  return GLYPHS.get(character)?.width ?? BOX_WIDTH
}

const BOWL = 'M1.6 2Q0 2 0 4Q0 6 1.6 6Q3.2 6 3.2 4Q3.2 2 1.6 2Z'
const RING = 'M2.2 0Q0 0 0 3Q0 6 2.2 6Q4.4 6 4.4 3Q4.4 0 2.2 0Z'
const LOBE = 'M0 6V0H2.3Q4 0 4 1.7Q4 3.4 2.3 3.4H0'

/** Each line: character, width, path. */
const SOURCE = `
A 4 M0 6L2 0L4 6M.7 4H3.3
B 4 M0 0V6H2.3Q4 6 4 4.4Q4 3 2.3 3H0M0 0H2Q3.6 0 3.6 1.5Q3.6 3 2 3
C 4 M4 1Q3.2 0 2.1 0Q0 0 0 3Q0 6 2.1 6Q3.2 6 4 5
D 4 M0 0V6H1.6Q4 6 4 3Q4 0 1.6 0Z
E 3.6 M3.6 0H0V6H3.6M0 3H3
F 3.6 M3.6 0H0V6M0 3H3
G 4 M4 1Q3.2 0 2.1 0Q0 0 0 3Q0 6 2.1 6Q4 6 4 3.4H2.4
H 4 M0 0V6M4 0V6M0 3H4
I 0 M0 0V6
J 3 M3 0V4.4Q3 6 1.5 6Q0 6 0 4.6
K 4 M0 0V6M4 0L0 3.6M1.5 2.4L4 6
L 3.4 M0 0V6H3.4
M 5 M0 6V0L2.5 4L5 0V6
N 4 M0 6V0L4 6V0
O 4.4 ${RING}
P 4 ${LOBE}
Q 4.6 ${RING}M2.8 4.4L4.6 6.5
R 4 ${LOBE}M2 3.4L4 6
S 4 M3.8 1Q3 0 2 0Q.2 0 .2 1.5Q.2 2.7 2 3Q4 3.4 4 4.6Q4 6 2 6Q.8 6 0 5
T 4 M0 0H4M2 0V6
U 4 M0 0V4Q0 6 2 6Q4 6 4 4V0
V 4 M0 0L2 6L4 0
W 6 M0 0L1.5 6L3 1L4.5 6L6 0
X 4 M0 0L4 6M4 0L0 6
Y 4 M0 0L2 3L4 0M2 3V6
Z 4 M0 0H4L0 6H4
a 3.2 ${BOWL}M3.2 2V6
b 3.2 M0 0V6${BOWL}
c 3 M3 2.6Q2.5 2 1.7 2Q0 2 0 4Q0 6 1.7 6Q2.5 6 3 5.4
d 3.2 ${BOWL}M3.2 0V6
e 3.2 M0 4H3.2Q3.2 2 1.6 2Q0 2 0 4Q0 6 1.7 6Q2.7 6 3.1 5.2
f 2.2 M2.2 .2Q.8 -.2 .8 1.4V6M0 2.2H2
g 3.2 ${BOWL}M3.2 2V6.6Q3.2 8 1.6 8Q.6 8 .1 7.4
h 3.2 M0 0V6M0 3.6Q.2 2 1.7 2Q3.2 2 3.2 3.6V6
i 0 M0 2.2V6M0 .3V.4
j 1 M1 2.2V6.8Q1 8 0 8M1 .3V.4
k 3 M0 0V6M3 2L0 4.6M1.1 3.7L3 6
l .8 M0 0V5Q0 6 .8 6
m 5.2 M0 2V6M0 3.4Q.2 2 1.4 2Q2.6 2 2.6 3.4V6M2.6 3.4Q2.8 2 4 2Q5.2 2 5.2 3.4V6
n 3.2 M0 2V6M0 3.6Q.2 2 1.7 2Q3.2 2 3.2 3.6V6
o 3.2 ${BOWL}
p 3.2 M0 2V8${BOWL}
q 3.2 ${BOWL}M3.2 2V8
r 2 M0 2V6M0 3.8Q.3 2 2 2.1
s 2.8 M2.7 2.6Q2.2 2 1.4 2Q.1 2 .1 3Q.1 3.8 1.4 4Q2.8 4.2 2.8 5Q2.8 6 1.4 6Q.5 6 0 5.3
t 2.2 M.8 .6V4.8Q.8 6 2.2 5.8M0 2H2
u 3.2 M0 2V4.4Q0 6 1.5 6Q3 6 3.2 4.4M3.2 2V6
v 3 M0 2L1.5 6L3 2
w 4.6 M0 2L1.1 6L2.3 2.6L3.5 6L4.6 2
x 3 M0 2L3 6M3 2L0 6
y 3.2 M0 2L1.6 6M3.2 2L1.2 7.2Q.9 8 0 8
z 3 M0 2H3L0 6H3
0 4 M2 0Q0 0 0 3Q0 6 2 6Q4 6 4 3Q4 0 2 0ZM1.2 4.4L2.8 1.6
1 1.6 M0 1.2L1.6 0V6
2 3.8 M.1 1.4Q.4 0 1.9 0Q3.7 0 3.7 1.6Q3.7 2.8 2 4.2L0 6H3.8
3 3.8 M.1 .9Q.8 0 1.9 0Q3.6 0 3.6 1.5Q3.6 2.9 1.6 2.9Q3.8 2.9 3.8 4.5Q3.8 6 1.9 6Q.6 6 0 5
4 4 M3 6V0L0 4.2H4
5 3.8 M3.5 0H.5L.2 2.8Q.9 2.2 1.9 2.2Q3.8 2.2 3.8 4.1Q3.8 6 1.9 6Q.7 6 0 5.1
6 3.8 M3.4 .6Q2.8 0 2 0Q0 0 0 3.6Q0 6 1.9 6Q3.8 6 3.8 4.2Q3.8 2.4 2 2.4Q.5 2.4 0 3.8
7 3.8 M0 0H3.8L1.4 6
8 3.8 M1.9 0Q.3 0 .3 1.4Q.3 2.8 1.9 2.8Q3.5 2.8 3.5 1.4Q3.5 0 1.9 0ZM1.9 2.8Q0 2.8 0 4.4Q0 6 1.9 6Q3.8 6 3.8 4.4Q3.8 2.8 1.9 2.8Z
9 3.8 M.4 5.4Q1 6 1.8 6Q3.8 6 3.8 2.4Q3.8 0 1.9 0Q0 0 0 1.8Q0 3.6 1.8 3.6Q3.3 3.6 3.8 2.2
. 0 M0 5.9V6
, .6 M.6 5.8Q.6 6.8 0 7.2
: 0 M0 2.6V2.7M0 5.9V6
; .6 M.5 2.6V2.7M.6 5.8Q.6 6.8 0 7.2
! 0 M0 0V4M0 5.9V6
? 3.2 M0 1.3Q.3 0 1.6 0Q3.2 0 3.2 1.4Q3.2 2.5 1.6 3.2V4.2M1.6 5.9V6
' 0 M0 0V1.4
" 1.4 M0 0V1.4M1.4 0V1.4
( 1.4 M1.4 -.4Q0 1 0 3.2Q0 5.4 1.4 6.8
) 1.4 M0 -.4Q1.4 1 1.4 3.2Q1.4 5.4 0 6.8
[ 1.3 M1.3 -.4H0V6.8H1.3
] 1.3 M0 -.4H1.3V6.8H0
{ 1.8 M1.8 -.4Q.9 -.4 .9 .8V2.2Q.9 3.2 0 3.2Q.9 3.2 .9 4.2V5.6Q.9 6.8 1.8 6.8
} 1.8 M0 -.4Q.9 -.4 .9 .8V2.2Q.9 3.2 1.8 3.2Q.9 3.2 .9 4.2V5.6Q.9 6.8 0 6.8
/ 2.6 M0 6.8L2.6 -.4
\\ 2.6 M0 -.4L2.6 6.8
| 0 M0 -.6V7
- 2.4 M0 3.6H2.4
_ 3.4 M0 7H3.4
+ 3.2 M1.6 2V5.2M0 3.6H3.2
= 3 M0 2.8H3M0 4.4H3
* 2.6 M1.3 .4V3M.1 1L2.5 2.4M2.5 1L.1 2.4
# 4 M1.3 .4L.7 5.8M3.3 .4L2.7 5.8M.2 2.2H4M0 4.1H3.8
% 4.6 M.9 0Q0 0 0 1.2Q0 2.4 .9 2.4Q1.8 2.4 1.8 1.2Q1.8 0 .9 0ZM3.7 3.6Q2.8 3.6 2.8 4.8Q2.8 6 3.7 6Q4.6 6 4.6 4.8Q4.6 3.6 3.7 3.6ZM4 0L.6 6
& 4.4 M4.4 6L.9 1.8Q.4 1 1 .4Q1.6 -.2 2.3 .4Q2.9 1 2.2 1.9L.8 3.1Q0 3.8 0 4.6Q0 6 1.6 6Q3.6 6 4.2 3
@ 5 M3.5 4.2Q3.2 4.6 2.5 4.6Q1.4 4.6 1.4 3.2Q1.4 1.8 2.5 1.8Q3.5 1.8 3.5 3V3.8Q3.5 4.5 4.2 4.5Q5 4.5 5 3Q5 .2 2.5 .2Q0 .2 0 3.2Q0 6.2 2.6 6.2Q3.5 6.2 4.2 5.8
$ 4 M3.8 1.2Q3 .4 2 .4Q.2 .4 .2 1.7Q.2 2.7 2 3Q4 3.3 4 4.4Q4 5.6 2 5.6Q.8 5.6 0 4.8M2 -.4V6.4
^ 2.6 M0 1.6L1.3 0L2.6 1.6
~ 3.2 M0 3.9Q.8 2.8 1.6 3.6Q2.4 4.4 3.2 3.3
\` 1 M0 0L1 1
< 2.8 M2.8 1.6L0 3.6L2.8 5.6
> 2.8 M0 1.6L2.8 3.6L0 5.6
• .8 M.4 3.4V3.6
…  4 M0 5.9V6M2 5.9V6M4 5.9V6
– 3 M0 3.6H3
— 4.4 M0 3.6H4.4
× 3 M0 2L3 5.2M3 2L0 5.2
`

const GLYPHS = new Map(
  SOURCE.trim()
    .split('\n')
    .map((line): [string, Glyph] => {
      const [, character = '', width = '0', path = ''] = /^(\S+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
      return [character, { width: Number(width), path }]
    }),
)

const DIGIT_SCALE = 0.4
const BOX_WIDTH = 6.7

/** Returns a box with the character's code point in it, as systems show missing glyphs. */
function spellOutCodePoint(character: string): Glyph {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0').slice(-4)
  const digits = Array.from(hex, (digit, index) =>
    shrinkPath(GLYPHS.get(digit)?.path ?? '', {
      x: 1.1 + (index % 2) * 2.9,
      y: index < 2 ? 0.2 : 3.7,
    }),
  )
  return { width: BOX_WIDTH, path: `M0 -1H${BOX_WIDTH}V7H0Z${digits.join('')}` }
}

interface Offset {
  readonly x: number
  readonly y: number
}

function shrinkPath(path: string, offset: Offset): string {
  return path.replaceAll(/([MLHVQ])([^A-Z]*)/g, (_, command: string, numbers: string) => {
    const values = numbers.match(/-?[\d.]+/g) ?? []
    const moved = values.map((value, index) => {
      const isVertical = command === 'V' || (command !== 'H' && index % 2 === 1)
      return (Number(value) * DIGIT_SCALE + (isVertical ? offset.y : offset.x)).toFixed(2)
    })
    return `${command}${moved.join(' ')}`
  })
}
