import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Quantizations for `auto`, in order of preference: small files of sufficient quality first. */
const PREFERRED = ['Q4_K_M', 'Q4_K_S', 'Q4_0', 'Q5_K_M', 'Q8_0'] as const
const GGUF = /\.gguf$/i
/** Later parts of a split model. llama.cpp finds them from the first part. */
const LATER_PART = /-(?!00001-)\d{5}-of-\d{5}\.gguf$/i
/** Image projectors, which are not models. */
const PROJECTOR = /mmproj/i

/** Finds the GGUF file with this quantization in a directory. Returns null if there is none. */
export async function findGgufFile(directory: string, quantization: string): Promise<string | null> {
  const names = (await readdir(directory, { recursive: true }).catch(() => []))
    .filter((name) => GGUF.test(name) && !LATER_PART.test(name) && !PROJECTOR.test(name))
    .toSorted()
  const isOf = (wanted: string) => (name: string) => name.toLowerCase().includes(wanted.toLowerCase())
  const found =
    quantization === 'auto'
      ? (PREFERRED.flatMap((wanted) => names.find(isOf(wanted)) ?? [])[0] ?? names[0])
      : names.find(isOf(quantization))
  return found === undefined ? null : join(directory, found)
}
