import { findGlyph, GLYPH_GAP, LINE_HEIGHT, measureGlyph, SPACE_WIDTH } from './stroke-font.ts'

interface TextBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface TextStyle {
  readonly color: string
  /** Maximum height of a line. Reduced if the text does not fit. */
  readonly lineHeightMax: number
  readonly lineHeightMin: number
}

const SHRINK_STEPS_MAX = 24
const SHRINK_FACTOR = 0.88
const TEXT_LENGTH_MAX = 600
const STROKE_WIDTH = 0.75

/**
 * Returns the SVG of a text, centred in a box, in the largest letters that fit. Text that does not fit in the smallest letters is
 * cut.
 */
export function drawText(text: string, box: TextBox, style: TextStyle): string {
  const words = listWords(text)
  let lineHeight = Math.min(style.lineHeightMax, box.height)
  let lines = wrapWords(words, (box.width / lineHeight) * LINE_HEIGHT)
  for (let step = 0; step < SHRINK_STEPS_MAX && lines.length * lineHeight > box.height; step += 1) {
    if (lineHeight <= style.lineHeightMin) break
    lineHeight = Math.max(style.lineHeightMin, lineHeight * SHRINK_FACTOR)
    lines = wrapWords(words, (box.width / lineHeight) * LINE_HEIGHT)
  }
  const linesMax = Math.max(1, Math.floor(box.height / lineHeight))
  const shown = lines.length > linesMax ? [...lines.slice(0, linesMax - 1), `${lines[linesMax - 1]}…`] : lines
  const scale = lineHeight / LINE_HEIGHT
  const top = box.y + (box.height - shown.length * lineHeight) / 2 + lineHeight * 0.2
  const paths = shown.map((line, index) => {
    const left = box.x + (box.width - measureLine(line) * scale) / 2
    return drawLine(line, { left, top: top + index * lineHeight, scale })
  })
  return (
    `<g fill="none" stroke="${style.color}" stroke-width="${STROKE_WIDTH}" stroke-linecap="round" ` +
    `stroke-linejoin="round">${paths.join('')}</g>`
  )
}

// Drop accents, because the base letter is more readable than a box.
function listWords(text: string): string[] {
  const plain = text
    .slice(0, TEXT_LENGTH_MAX)
    .toWellFormed()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[‘’‚]/g, "'")
    .replaceAll(/[“”„]/g, '"')
    .replaceAll(/\p{C}/gu, ' ')
  return plain.split(/\s+/).filter((word) => word !== '')
}

function wrapWords(words: readonly string[], widthMax: number): string[] {
  const lines: string[] = []
  let lineWidth = Number.POSITIVE_INFINITY
  for (const word of words.flatMap((word) => breakWord(word, widthMax))) {
    const wordWidth = measureLine(word)
    const joinedWidth = lineWidth + GLYPH_GAP + SPACE_WIDTH + wordWidth
    const fits = joinedWidth <= widthMax
    if (fits) lines[lines.length - 1] = `${lines.at(-1)} ${word}`
    else lines.push(word)
    lineWidth = fits ? joinedWidth : wordWidth
  }
  return lines
}

function breakWord(word: string, widthMax: number): string[] {
  const pieces: string[] = []
  let pieceWidth = Number.POSITIVE_INFINITY
  for (const character of word) {
    const fits = pieceWidth + advanceOf(character) <= widthMax
    if (fits) pieces[pieces.length - 1] = `${pieces.at(-1)}${character}`
    else pieces.push(character)
    pieceWidth = (fits ? pieceWidth : 0) + advanceOf(character)
  }
  return pieces
}

function measureLine(line: string): number {
  let width = 0
  for (const character of line) width += advanceOf(character)
  return Math.max(0, width - GLYPH_GAP)
}

function advanceOf(character: string): number {
  return character === ' ' ? SPACE_WIDTH : measureGlyph(character) + GLYPH_GAP
}

function drawLine(line: string, { left, top, scale }: { left: number; top: number; scale: number }): string {
  let position = 0
  let paths = ''
  for (const character of line) {
    if (character !== ' ')
      paths += `<path transform="translate(${position.toFixed(2)} 0)" d="${findGlyph(character).path}"/>`
    position += advanceOf(character)
  }
  return `<g transform="translate(${left.toFixed(2)} ${top.toFixed(2)}) scale(${scale.toFixed(4)})">${paths}</g>`
}
