import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { formatNumber } from '../../output/format-number.ts'
import { verifyBill, type CheckedBill } from '../../verify-bill/verify-bill.ts'

interface VerifyOptions {
  readonly answers?: string
  readonly earlier?: string
  readonly key?: string[]
}

/** Of all problems, which can be millions. */
const PROBLEMS_SHOWN = 100

export const verifyBillCommand = clientCommand<VerifyOptions>({
  name: 'verify-bill',
  summary: 'Check a saved month against its signed receipts, without a gateway.',
  example: 'parkway verify-bill bill-2030-01',
  define: (command) =>
    command
      .argument('<folder>', 'what `parkway receipts save` saved')
      .option('--answers <file>', 'JSON lines with the request_id and cost_usd of answers that you kept')
      .option('--earlier <folder>', 'a bill that was saved earlier: its receipts must not have changed')
      .option('--key <base64...>', 'trust these public keys only'),
  async act({ output, isJson, printJson }, { answers, earlier, key }, folder = '') {
    const problems: string[] = []
    const checked = await verify({
      folder,
      answers: answers ?? null,
      earlier: earlier ?? null,
      trustedKeys: key ?? [],
      onProblem: (problem) => {
        if (problems.length < PROBLEMS_SHOWN) problems.push(problem)
      },
    })
    if (isJson)
      printJson({
        ...checked,
        cost_nano_usd: String(checked.costNanoUsd),
        costNanoUsd: undefined,
        new_keys: checked.newKeys,
        newKeys: undefined,
        named: problems,
      })
    else {
      for (const problem of problems) output.line(problem)
      if (checked.problems > problems.length)
        output.line(`and ${formatNumber(checked.problems - problems.length)} more`)
      output.note(summaryOf(checked))
    }
    if (checked.problems > 0)
      throw new CommandFailure(EXIT.failed, 'The bill does not agree with its receipts.')
  },
})

async function verify(options: Parameters<typeof verifyBill>[0]): Promise<CheckedBill> {
  try {
    return await verifyBill(options)
  } catch (error) {
    throw new CommandFailure(
      EXIT.failed,
      `The bill cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function summaryOf({ receipts, records, unsigned, answers, newKeys }: CheckedBill): string {
  return [
    `${formatNumber(receipts)} receipts and ${formatNumber(records)} records were checked`,
    ...(unsigned > 0 ? [`${formatNumber(unsigned)} of the records are of days without a receipt`] : []),
    ...(newKeys.length > 0
      ? [`the earlier bill does not have the keys ${newKeys.join(', ')}: ask the operator for them`]
      : []),
    ...(answers > 0 ? [`${formatNumber(answers)} answers were compared`] : []),
  ].join('; ')
}
