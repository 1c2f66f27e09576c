import { loadJq as load } from 'jq-wasm'
import type { Filter, FilterStart } from './filter-messages.ts'

const COMPILE_ERROR = 3
/** Surrogates without their other half are escaped in JSON, and jq refuses them. */
const ESCAPES = /\\(?:u(d[89a-f][0-9a-f]{2})|.)/g

/** Compiles a filter of jq. Throws if it is none. */
export async function loadJq({ text, isForPerson }: FilterStart): Promise<Filter> {
  const jq = await load()
  // A filter that begins with a dash would be taken for an option.
  const filter = text.startsWith('-') ? ` ${text}` : text
  const flags = ['--raw-output0', ...(isForPerson ? ['--indent', '2'] : ['--compact-output'])]
  // Without an input the filter is compiled, and does not run.
  const compiled = jq.raw('', filter, flags)
  if (compiled.exitCode === COMPILE_ERROR) throw new Error(explain(compiled.stderr))
  return (json) => {
    const { stdout, stderr, exitCode } = jq.raw(makeWellFormed(json), filter, flags)
    return { text: stdout.replaceAll('\0', '\n'), failure: exitCode === 0 ? null : explain(stderr) }
  }
}

function makeWellFormed(json: string): string {
  if (!json.includes('\\ud')) return json
  return json.replaceAll(ESCAPES, (escape, surrogate?: string) =>
    surrogate === undefined ? escape : '\ufffd',
  )
}

/** The first sentence of jq, without the place that every filter of one line has. */
function explain(stderr: string): string {
  const [first = ''] = stderr.split('\n')
  return first
    .replace(/^jq: error:? ?(\(at [^)]*\): )?/, '')
    .replace(/ at <top-level>, line 1, column (\d+):$/, ' (character $1)')
}
