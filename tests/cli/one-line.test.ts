import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Run } from '../../cli/compare/follow-run.ts'
import { printRun } from '../../cli/compare/print-run.ts'
import { describeEntry } from '../../cli/logs/describe-entry.ts'
import type { LogEntry } from '../../cli/logs/read-log.ts'
import { printPairs } from '../../cli/output/tables/print-pairs.ts'
import { createOutput, type Output } from '../../cli/output/terminal.ts'

/** Begins a line that looks like another request, and writes black on black. */
const FORGED = 'x\n2026-01-01T00:00:00Z  200\u001b[30m'

function screen(): { output: Output; written: () => string } {
  const parts: string[] = []
  const stream = new PassThrough()
  stream.on('data', (part) => parts.push(String(part)))
  const out = stream as unknown as NodeJS.WriteStream
  return { output: createOutput({ stdout: out, stderr: out }), written: () => parts.join('') }
}

test('a line of a followed log is one line, whatever a client has sent', () => {
  const entry = {
    created_at: '2026-11-19T12:00:00Z',
    request_id: 'req_1',
    http_status: 404,
    outcome: 'refused',
    operation: 'chat',
    model: null,
    requested_model: FORGED,
    error_code: 'model_not_found',
    error_message: `There is no model "${FORGED}".`,
    account_name: FORGED,
    latency_ms: 12,
    cost_usd: 0,
  } as unknown as LogEntry
  const line = describeEntry(entry, true)
  expect(line.split('\n')).toHaveLength(1)
  expect(line).not.toContain('\u001b')
  expect(line.match(/x 2026-01-01T00:00:00Z 200/g)).toHaveLength(3)
})

test('no text from outside adds a line to one, hides what comes after it, or looks like a name', () => {
  const { output, written } = screen()
  output.line(`The key "${FORGED}" is revoked.`)
  output.note(`Note: ${FORGED}`)
  expect(written().split('\n').length - 1).toBe(2)
  expect(written()).not.toContain('\u001b')
  const pairs = screen()
  printPairs(pairs.output, [
    ['name', 'x\nstatus  active'],
    ['status', 'suspended'],
  ])
  expect(pairs.written().match(/^\S*status/gm)).toHaveLength(1)
  expect(pairs.written()).toContain('\n        status  active\n')
})

test('a score may be called as a member of every object, and its title is one line', () => {
  const { output, written } = screen()
  const stats = {
    completed: 0,
    score: null,
    scores: {},
    latency_ms: { p50: null },
    ttft_ms: { p50: null },
    output_tokens_per_second: null,
    cost_usd: 0,
    confidence: null,
  }
  const run = {
    id: 'run',
    name: FORGED,
    status: 'running',
    error: null,
    cells_done: 0,
    cells_total: 1,
    cells_failed: 0,
    cost_usd: 0,
    scores: [{ name: 'constructor' }, { name: FORGED }],
    lanes: [{ id: 'lane', name: 'first', winner: false, wins: 0, stats }],
  }
  printRun(output, run as unknown as Run)
  const title = written()
    .split('\n')
    .find((line) => line.includes('constructor'))
  expect(title).toContain('x 2026-01-01T00:00:00Z 200')
  expect(written()).not.toContain('\u001b[30m')
  expect(written()).toMatch(/^\s*first +0 +- +- +- /m)
})
