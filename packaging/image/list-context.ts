import { readdirSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'

/** What nobody walks: it is ignored as a whole, and large. */
const NOT_WALKED = ['node_modules', '.git']

/** The files that a build may copy, by the rules of `.dockerignore`: the last rule that fits decides. */
export function listContext(root: string): string[] {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ isKept: line.startsWith('!'), pattern: line.replace(/^!/, '') }))
  const files: string[] = []
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (NOT_WALKED.includes(entry.name)) continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) walk(path)
      else if (rules.findLast(({ pattern }) => isMatched(path, pattern))?.isKept !== false) files.push(path)
    }
  }
  walk('')
  return files.toSorted()
}

/** A rule for a folder is one for all that is in it. */
function isMatched(path: string, pattern: string): boolean {
  // The function of Node leaves out names that begin with a dot.
  if (pattern === '**') return true
  const parts = path.split('/')
  return parts.some((_part, index) => matchesGlob(parts.slice(0, index + 1).join('/'), pattern))
}
