import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { formatUsd } from '../output/format-usd.ts'
import { isInteractive, requireConsent } from './confirm.ts'
import { parseUsd } from './parse-number.ts'

const ASK_ABOVE_USD_DEFAULT = 0.5
const VARIABLE = 'PARKWAY_ASK_ABOVE_USD'

interface Cost {
  readonly usd: number
  /** Such as "The 12 answers". */
  readonly what: string
  /** Whether the person has agreed with `--yes`. */
  readonly isAgreed: boolean
}

/** Asks before work that costs more than the person has set. Without a terminal such work is refused. */
export async function confirmCost({ usd, what, isAgreed }: Cost): Promise<void> {
  const askAboveUsd = readAskAbove(process.env)
  if (isAgreed || usd <= askAboveUsd) return
  const cost = `${what} would cost about ${formatUsd(usd)}`
  if (!isInteractive())
    throw new CommandFailure(
      EXIT.usage,
      `${cost}, which is more than ${formatUsd(askAboveUsd)}.`,
      `Agree with --yes, or set ${VARIABLE} to a higher amount.`,
    )
  await requireConsent(`${cost}. Go on?`, false)
}

function readAskAbove(environment: NodeJS.ProcessEnv): number {
  const text = environment[VARIABLE]
  return text === undefined || text === '' ? ASK_ABOVE_USD_DEFAULT : parseUsd(VARIABLE, text)
}
