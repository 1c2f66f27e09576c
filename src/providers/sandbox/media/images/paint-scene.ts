import { createRandomFromText, type SeededRandom } from '../../../../kernel/seeded-random.ts'
import { drawText } from './draw-text.ts'
import type { PictureSize } from './picture-size.ts'

interface Scene extends PictureSize {
  readonly prompt: string
  readonly seedText: string
  /** Small text at the bottom that names the origin of the image. */
  readonly footer: string
  readonly isTransparent: boolean
}

/** Returns an SVG with the prompt drawn over hills, a sun and a sky. The colours depend on the prompt's words and the seed. */
export function paintScene(scene: Scene): string {
  const random = createRandomFromText(scene.seedText)
  const hues = chooseHues(scene.prompt, random)
  const landscape = scene.isTransparent ? '' : paintLandscape(scene, hues, random)
  return `${openSvg(scene)}${landscape}${paintCard(scene)}</svg>`
}

/** Returns only the landscape, without text. */
export function paintBackdrop(scene: PictureSize & Pick<Scene, 'prompt' | 'seedText'>): string {
  const random = createRandomFromText(scene.seedText)
  return `${openSvg(scene)}${paintLandscape(scene, chooseHues(scene.prompt, random), random)}</svg>`
}

/** Returns only the text, on a semi-transparent band. */
export function paintCaption(scene: PictureSize & Pick<Scene, 'prompt' | 'footer'>): string {
  const { width, height } = scene
  const bandHeight = Math.max(12, Math.round(height * 0.22))
  const top = height - bandHeight
  const margin = width * 0.04
  return (
    openSvg(scene) +
    `<rect y="${top}" width="${width}" height="${bandHeight}" fill="#000" fill-opacity="0.55"/>` +
    drawText(
      scene.prompt || scene.footer,
      { x: margin, y: top + bandHeight * 0.08, width: width - 2 * margin, height: bandHeight * 0.62 },
      { color: '#fff', lineHeightMax: bandHeight * 0.5, lineHeightMin: Math.max(7, bandHeight * 0.2) },
    ) +
    drawText(
      scene.footer,
      { x: margin, y: top + bandHeight * 0.74, width: width - 2 * margin, height: bandHeight * 0.2 },
      { color: '#ddd', lineHeightMax: bandHeight * 0.16, lineHeightMin: 5 },
    ) +
    '</svg>'
  )
}

function openSvg({ width, height }: PictureSize): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`
}

/** Words that suggest a colour, and its hue in degrees. */
const HUES: readonly (readonly [RegExp, number])[] = [
  [/\b(red|fire|rose|blood|cherry|sunset|dawn|mars)/i, 8],
  [/\b(orange|autumn|fox|pumpkin|desert|sand)/i, 28],
  [/\b(yellow|gold|sun|honey|wheat|lemon)/i, 46],
  [/\b(green|forest|grass|jungle|tree|meadow|garden|frog)/i, 130],
  [/\b(teal|turquoise|mint|lagoon)/i, 175],
  [/\b(blue|sea|ocean|sky|water|lake|river|ice|winter|rain)/i, 210],
  [/\b(night|space|galaxy|midnight|moon|star)/i, 245],
  [/\b(purple|violet|lavender|magic|dream)/i, 280],
  [/\b(pink|blossom|flamingo|candy)/i, 330],
]

const LOOKED_AT_MAX = 2000

function chooseHues(prompt: string, random: SeededRandom): readonly [number, number] {
  const beginning = prompt.slice(0, LOOKED_AT_MAX)
  const named = HUES.filter(([pattern]) => pattern.test(beginning)).map(([, hue]) => hue)
  const first = named[0] ?? random.below(360)
  const second = named[1] ?? (first + 30 + random.below(50)) % 360
  return [first + random.below(9) - 4, second + random.below(9) - 4]
}

const HILLS = 3

function paintLandscape(
  { width, height }: PictureSize,
  [hue, otherHue]: readonly [number, number],
  random: SeededRandom,
): string {
  const sunX = width * (0.15 + random.below(70) / 100)
  const sunY = height * (0.12 + random.below(18) / 100)
  const sunRadius = Math.min(width, height) * (0.07 + random.below(6) / 100)
  const hills = Array.from({ length: HILLS }, (_, index) =>
    paintHill({ width, height }, 0.48 + index * 0.15, `hsl(${otherHue} 45% ${46 - index * 11}%)`, random),
  )
  return (
    `<defs><linearGradient id="sky" x1="0" y1="0" x2="${random.below(60) / 100}" y2="1">` +
    `<stop offset="0" stop-color="hsl(${hue} 72% 58%)"/>` +
    `<stop offset="0.7" stop-color="hsl(${otherHue} 68% 80%)"/></linearGradient></defs>` +
    `<rect width="${width}" height="${height}" fill="url(#sky)"/>` +
    `<circle cx="${sunX.toFixed(1)}" cy="${sunY.toFixed(1)}" r="${(sunRadius * 1.7).toFixed(1)}" fill="#fff" fill-opacity="0.25"/>` +
    `<circle cx="${sunX.toFixed(1)}" cy="${sunY.toFixed(1)}" r="${sunRadius.toFixed(1)}" fill="#fff" fill-opacity="0.85"/>` +
    hills.join('')
  )
}

function paintHill(
  { width, height }: PictureSize,
  level: number,
  color: string,
  random: SeededRandom,
): string {
  const heightAt = () => (height * (level - 0.06 + random.below(13) / 100)).toFixed(1)
  const at = (share: number) => (width * share).toFixed(1)
  return (
    `<path fill="${color}" d="M0 ${height}V${heightAt()}Q${at(0.25)} ${heightAt()} ${at(0.5)} ${heightAt()}` +
    `T${width} ${heightAt()}V${height}Z"/>`
  )
}

/** Draws the text in the middle, on a dark card that keeps it readable on any sky. */
function paintCard({ width, height, prompt, footer }: Scene): string {
  const left = width * 0.08
  const top = height * 0.26
  const inner = { width: width * 0.84, height: height * 0.48 }
  const unit = Math.min(width, height)
  return (
    `<rect x="${left}" y="${top}" width="${inner.width}" height="${inner.height}" rx="${unit * 0.03}" ` +
    'fill="#0b1020" fill-opacity="0.6"/>' +
    drawText(
      prompt,
      {
        x: left + inner.width * 0.06,
        y: top + inner.height * 0.06,
        width: inner.width * 0.88,
        height: inner.height * 0.88,
      },
      { color: '#fff', lineHeightMax: unit * 0.13, lineHeightMin: Math.max(6, unit * 0.028) },
    ) +
    drawText(
      footer,
      { x: width * 0.04, y: height * 0.92, width: width * 0.92, height: height * 0.05 },
      { color: '#fff', lineHeightMax: unit * 0.032, lineHeightMin: 5 },
    )
  )
}
