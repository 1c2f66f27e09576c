import { readFileSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import type { Output } from '../output/terminal.ts'
import { detectProtocol, type PictureProtocol } from './detect-protocol.ts'
import { encodeSixel } from './encode-sixel.ts'

const PICTURES: ReadonlySet<string> = new Set(['.png', '.jpg', '.jpeg', '.webp', '.gif'])
const BYTES_MAX = 50 * 1024 * 1024
const COLUMNS_MAX = 60
const SIXEL_PIXELS_MAX = 480
/** The longest piece that kitty's protocol allows. */
const KITTY_CHUNK_LENGTH = 4_096

/** Shows a saved picture in the terminal. Says why if it cannot. */
export async function showPicture(
  output: Output,
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  if (!PICTURES.has(extname(path).toLowerCase())) return
  const protocol = detectProtocol(environment)
  // The paths on stdout are for the next program.
  if (!output.isTerminal || protocol === null)
    return output.note('This terminal shows no pictures (PARKWAY_PICTURES=kitty, iterm or sixel if it does).')
  if (statSync(path).size > BYTES_MAX) return output.note(`${path} is too large to be shown.`)
  output.control(`${await ENCODERS[protocol](readFileSync(path), Math.min(COLUMNS_MAX, output.columns))}\n`)
}

const ENCODERS: Readonly<Record<PictureProtocol, (file: Buffer, columns: number) => Promise<string>>> = {
  async kitty(file, columns) {
    const text = (await toPng(file)).toString('base64')
    const chunks = text.match(new RegExp(`.{1,${KITTY_CHUNK_LENGTH}}`, 'g')) ?? []
    return chunks
      .map((chunk, index) => {
        const more = index < chunks.length - 1 ? 1 : 0
        const keys = index === 0 ? `a=T,f=100,q=2,c=${columns},m=${more}` : `m=${more}`
        return `\u001B_G${keys};${chunk}\u001B\\`
      })
      .join('')
  },
  iterm: (file, columns) =>
    Promise.resolve(
      `\u001B]1337;File=inline=1;size=${file.length};width=${columns};preserveAspectRatio=1:${file.toString('base64')}\u0007`,
    ),
  async sixel(file) {
    const { default: sharp } = await import('sharp')
    const { data, info } = await sharp(file)
      .resize({ width: SIXEL_PIXELS_MAX, height: SIXEL_PIXELS_MAX, fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#000000' })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true })
    return encodeSixel(data, info)
  },
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47])

async function toPng(file: Buffer): Promise<Buffer> {
  if (file.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) return file
  const { default: sharp } = await import('sharp')
  return sharp(file).png().toBuffer()
}
