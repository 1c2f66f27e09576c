import { realpath } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Returns the file of a program, by its path or in the directories of the search path. Null if there is none. */
export async function findProgram(program: string, searchPath: string): Promise<string | null> {
  if (program.includes('/')) return resolveFile(program)
  for (const directory of searchPath.split(delimiter)) {
    const file = await resolveFile(join(directory, program))
    if (file !== null) return file
  }
  return null
}

/** Returns the files that exist of a command: its program and the absolute paths of its arguments. */
export async function listCommandFiles(
  [program = '', ...args]: readonly string[],
  searchPath: string,
): Promise<readonly string[]> {
  const named = args.flatMap((text) => /(?:^|=)(\/.+)$/.exec(text)?.[1] ?? [])
  const found = [await findProgram(program, searchPath), ...(await Promise.all(named.map(resolveFile)))]
  return found.filter((path) => path !== null)
}

/** Returns the path without symbolic links. Null if there is no such file. */
export function resolveFile(path: string): Promise<string | null> {
  return realpath(path).catch(() => null)
}
