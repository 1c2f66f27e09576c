import { inspect } from 'node:util'
import { toUsd } from './check/check-account.ts'
import type { CaseOutcome } from './run-case.ts'
import type { Totals } from './run-cases.ts'

const REQUEST_LENGTH_SHOWN = 1_500
const SHOWN = { depth: 6, breakLength: 140, compact: 6, maxStringLength: 60 }

/** Describes a failed case so that a reader can repeat it. */
export function describeOutcome(seed: number, outcome: CaseOutcome): string {
  const { made, request, statuses, lines, problems } = outcome
  return [
    `seed ${seed}, case ${made.number}: ${problems.join('; ')}`,
    inspect(made, SHOWN),
    `answers ${statuses.join(', ')}; invoiced ${toUsd(outcome.invoicedNanoUsd)} in ${lines.length} lines`,
    ...lines.map((line) => inspect(line, SHOWN)),
    `POST ${request.path} ${cut(request.text)}`,
  ].join('\n')
}

/** The figures of a whole run. */
export function describeTotals(seed: number, totals: Totals): string {
  const { cases, calls, invoicedNanoUsd, chargedNanoUsd, worked } = totals
  const by = [...worked]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `  ${name}: ${count}`)
  return [
    `seed ${seed}: ${cases} accounts, ${calls} billed calls`,
    `invoiced ${toUsd(invoicedNanoUsd)}, charged ${toUsd(chargedNanoUsd)}`,
    'accounts with work, by wire, end and vendor:',
    ...by,
  ].join('\n')
}

function cut(text: string): string {
  const plain = text.replaceAll(/(?:word ){3,}/g, 'word … ').replaceAll(/[A-Za-z0-9+/=]{200,}/g, '<base64>')
  return plain.length > REQUEST_LENGTH_SHOWN ? `${plain.slice(0, REQUEST_LENGTH_SHOWN)} …` : plain
}
