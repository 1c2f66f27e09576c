/** One instruction of a Dockerfile, such as `RUN npm ci`. */
export interface Instruction {
  readonly name: string
  readonly text: string
  readonly line: number
}

export interface Stage {
  /** A name of an image, or of an earlier stage. */
  readonly from: string
  readonly name: string | null
  readonly instructions: readonly Instruction[]
}

const KNOWN = [
  'RUN',
  'COPY',
  'WORKDIR',
  'USER',
  'ENV',
  'VOLUME',
  'EXPOSE',
  'STOPSIGNAL',
  'ENTRYPOINT',
  'CMD',
] as const

/** Reads the part of the language that our Dockerfile uses. Throws for everything else, so that no step is left out silently. */
export function readDockerfile(text: string): Stage[] {
  const stages: { from: string; name: string | null; instructions: Instruction[] }[] = []
  for (const instruction of listInstructions(text)) {
    if (instruction.name === 'FROM') {
      const [, from, name] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(instruction.text) ?? []
      if (from === undefined) throw unknown(instruction)
      stages.push({ from, name: name ?? null, instructions: [] })
      continue
    }
    if (!KNOWN.some((known) => known === instruction.name)) throw unknown(instruction)
    const stage = stages.at(-1)
    if (stage === undefined) throw new Error('the Dockerfile begins with no FROM')
    stage.instructions.push(instruction)
  }
  return stages
}

function unknown({ name, text, line }: Instruction): Error {
  return new Error(`line ${line}: ${name} ${text} is not understood here`)
}

function listInstructions(text: string): Instruction[] {
  const found: Instruction[] = []
  let lines: string[] = []
  let begin = 0
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue
    if (lines.length === 0) begin = index + 1
    lines.push(line.replace(/\\$/, ''))
    if (line.endsWith('\\')) continue
    const [, name = '', rest = ''] = /^(\S+)\s+([^]*)$/.exec(lines.join(' ')) ?? []
    found.push({ name: name.toUpperCase(), text: rest.trim(), line: begin })
    lines = []
  }
  return found
}

/** The words of `["a", "b"]`. */
export function readWords({ text, line }: Instruction): string[] {
  const words: unknown = JSON.parse(text)
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string'))
    throw new Error(`line ${line}: only the form with brackets starts the program without a shell`)
  return words
}

/** The pairs of `NAME=value OTHER=value`. */
export function readVariables({ text }: Instruction): [string, string][] {
  return text.split(/\s+/).map((pair) => {
    const [name = '', ...value] = pair.split('=')
    return [name, value.join('=')]
  })
}
