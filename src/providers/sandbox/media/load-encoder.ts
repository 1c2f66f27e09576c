import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { createEncoder, WasmMediaEncoder } from 'wasm-media-encoders'

const require = createRequire(import.meta.url)
const CODE = {
  'audio/mpeg': 'wasm-media-encoders/wasm/mp3',
  'audio/ogg': 'wasm-media-encoders/wasm/ogg',
} as const
type EncoderType = keyof typeof CODE

/** Compiled code, or the bytes it is compiled from. */
type EncoderCode = Parameters<typeof createEncoder>[1]

const compiled = new Map<EncoderType, EncoderCode>()

/** A new encoder; the code behind it is compiled at the first use and shared by all. */
export async function loadEncoder<Type extends EncoderType>(type: Type): Promise<WasmMediaEncoder<Type>> {
  const encoders = await import('wasm-media-encoders')
  const code = compiled.get(type) ?? (await readFile(require.resolve(CODE[type])))
  return encoders.createEncoder(type, code, (module) => compiled.set(type, module))
}
