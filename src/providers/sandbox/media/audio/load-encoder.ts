import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { WasmMediaEncoder } from 'wasm-media-encoders'

const require = createRequire(import.meta.url)
const CODE = 'wasm-media-encoders/wasm/mp3'

let compiled: object | null = null

/** A new MP3 encoder; the code behind it is compiled at the first use and shared by all. */
export async function loadEncoder(): Promise<WasmMediaEncoder<'audio/mpeg'>> {
  const encoders = await import('wasm-media-encoders')
  const code = compiled ?? (await readFile(require.resolve(CODE)))
  return encoders.createEncoder('audio/mpeg', code, (module) => {
    compiled = module
  })
}
