import { structuredPatch } from 'diff'

/** Finding the shortest difference of texts that have little in common would take minutes. */
const CHANGES_MAX = 2_000
const CONTEXT = 3

/** Returns the difference of two texts in the unified format, without the lines of names. */
export function unifiedDiff(before: string, after: string): string[] {
  const options = { context: CONTEXT, maxEditLength: CHANGES_MAX }
  const patch = structuredPatch('', '', before, after, '', '', options)
  if (patch === undefined) return replaceAll(before, after)
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    // A part without lines begins behind the line before it.
    `@@ -${oldLines === 0 ? oldStart - 1 : oldStart},${oldLines} +${newLines === 0 ? newStart - 1 : newStart},${newLines} @@`,
    ...lines,
  ])
}

function replaceAll(before: string, after: string): string[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  return [
    `@@ -1,${old.length} +1,${fresh.length} @@`,
    ...old.map((line) => `-${line}`),
    ...fresh.map((line) => `+${line}`),
  ]
}
