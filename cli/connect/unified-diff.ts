const CONTEXT = 3
const LINES_MAX = 4_000

/** Returns the difference of two texts in the unified format, without the lines of names. */
export function unifiedDiff(before: string, after: string): string[] {
  const [old, fresh] = [splitLines(before), splitLines(after)]
  const steps = old.length + fresh.length > LINES_MAX ? replaceMiddle(old, fresh) : compare(old, fresh)
  return hunks(steps)
}

interface Step {
  readonly mark: ' ' | '-' | '+'
  readonly line: string
}

function splitLines(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Finds the longest common subsequence of lines. */
function compare(old: readonly string[], fresh: readonly string[]): Step[] {
  const width = fresh.length + 1
  const lengths = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = fresh.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        old[i] === fresh[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
  const steps: Step[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < fresh.length) {
    const [removed = '', added = ''] = [old[i], fresh[j]]
    if (i < old.length && j < fresh.length && removed === added) {
      steps.push({ mark: ' ', line: removed })
      i += 1
      j += 1
    } else if (
      i < old.length &&
      (j === fresh.length || (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      steps.push({ mark: '-', line: removed })
      i += 1
    } else {
      steps.push({ mark: '+', line: added })
      j += 1
    }
  }
  return steps
}

/** The diff of long files: all lines between the common beginning and the common end are shown as replaced. */
function replaceMiddle(old: readonly string[], fresh: readonly string[]): Step[] {
  const shorter = Math.min(old.length, fresh.length)
  let head = 0
  while (head < shorter && old[head] === fresh[head]) head += 1
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1
  const marked = (mark: Step['mark'], lines: readonly string[]) => lines.map((line) => ({ mark, line }))
  return [
    ...marked(' ', old.slice(0, head)),
    ...marked('-', old.slice(head, old.length - tail)),
    ...marked('+', fresh.slice(head, fresh.length - tail)),
    ...marked(' ', old.slice(old.length - tail)),
  ]
}

function hunks(steps: readonly Step[]): string[] {
  const output: string[] = []
  let [oldLine, newLine, at] = [1, 1, 0]
  while (at < steps.length) {
    const change = steps.findIndex(({ mark }, index) => index >= at && mark !== ' ')
    if (change === -1) break
    const start = Math.max(at, change - CONTEXT)
    oldLine += start - at
    newLine += start - at
    const end = endOfHunk(steps, change)
    const part = steps.slice(start, end)
    const removed = part.filter(({ mark }) => mark !== '+').length
    const added = part.filter(({ mark }) => mark !== '-').length
    output.push(`@@ -${removed === 0 ? 0 : oldLine},${removed} +${added === 0 ? 0 : newLine},${added} @@`)
    for (const { mark, line } of part) output.push(mark + line)
    oldLine += removed
    newLine += added
    at = end
  }
  return output
}

/** A hunk ends where more lines than two contexts are unchanged. */
function endOfHunk(steps: readonly Step[], change: number): number {
  let last = change
  for (let at = change; at < steps.length && at - last <= 2 * CONTEXT; at += 1) {
    if (steps[at]?.mark !== ' ') last = at
  }
  return Math.min(steps.length, last + CONTEXT + 1)
}
