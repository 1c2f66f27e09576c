import { createHash, randomUUID } from 'node:crypto'
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseJson } from '../../kernel/parse-json.ts'
import type { WantedModel } from '../../gpu/model-files.ts'

const LocatedFiles = Type.Object({
  directory: Type.String(),
  paths: Type.Array(Type.String()),
  ggufPath: Type.Union([Type.String(), Type.Null()]),
})
/** Where the files of a model lie on this machine. */
export type LocatedFiles = Static<typeof LocatedFiles>

/** Remembers where the files of models lie, so that a deployment wakes also while the hub cannot be asked. */
export function createLocatedModels(directory: string) {
  const pathOf = ({ huggingfaceId, revision, quantization, isGguf }: WantedModel): string => {
    const name = JSON.stringify([huggingfaceId, revision, quantization, isGguf])
    return join(directory, `${createHash('sha256').update(name).digest('hex')}.json`)
  }
  return {
    write: async (wanted: WantedModel, files: LocatedFiles): Promise<void> => {
      // What needed a token is not for those without.
      if (wanted.hubToken !== null) return
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const draft = join(directory, randomUUID())
      await writeFile(draft, JSON.stringify(files), { mode: 0o600 })
      await rename(draft, pathOf(wanted))
    },
    /** Null where they are not known, or not all there any more. */
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
