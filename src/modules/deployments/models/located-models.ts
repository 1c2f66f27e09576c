import { createHash, randomUUID } from 'node:crypto'
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import type { WantedModel } from '../../../gpu/model-files.ts'

const LocatedFiles = Type.Object({
  directory: Type.String(),
  paths: Type.Array(Type.String()),
  ggufPath: Type.Union([Type.String(), Type.Null()]),
})
/** Where the files of a model are on this machine. */
export type LocatedFiles = Static<typeof LocatedFiles>

/** Stores where the files of models are, so that a deployment can wake while the hub is unavailable. */
export function createLocatedModels(directory: string) {
  const pathOf = ({ huggingfaceId, revision, quantization, asOperator, isGguf }: WantedModel): string => {
    const name = JSON.stringify([huggingfaceId, revision, quantization, isGguf, asOperator])
    return join(directory, `${createHash('sha256').update(name).digest('hex')}.json`)
  }
  return {
    write: async (wanted: WantedModel, files: LocatedFiles): Promise<void> => {
      // Not stored: files that needed a token must not be served without one.
      if (wanted.hubToken !== null) return
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const draft = join(directory, randomUUID())
      await writeFile(draft, JSON.stringify(files), { mode: 0o600 })
      await rename(draft, pathOf(wanted))
    },
    /** Returns null if the files are unknown, or if one of them is missing. */
    read: async (wanted: WantedModel): Promise<LocatedFiles | null> => {
      try {
        const files = Value.Parse(LocatedFiles, parseJson(await readFile(pathOf(wanted), 'utf8')))
        await Promise.all(files.paths.map((path) => access(path)))
        return files
      } catch {
        return null
      }
    },
  }
}
