import { formatUsd } from '../../../kernel/money.ts'
import { numberText, type Statement } from '../../../modules/statements/statements.ts'
import { printInThread } from '../../printed/print-in-thread.ts'
import { fileNameOf, printedStatement } from './statement-files.ts'

/** A mail about a closed statement, with its PDF. Single movements are not in it, because whoever reads it may have no rights on the account. */
export async function statementMail(statement: Statement, publicUrl: string | null) {
  const { account, month, number, charges, balance } = statement
  const printed = await printInThread(printedStatement(statement, { seesMovements: false }), account.id)
  const lines = [
    `The statement of ${month.name} (UTC) of the account ${account.name} is closed.`,
    '',
    ...(number === null ? [] : [`Number: ${numberText(number)}`]),
    ...(balance === null ? [] : [`Opening balance: ${formatUsd(balance.openingNanoUsd)} USD`]),
    `Charged: ${formatUsd(charges.totalNanoUsd)} USD`,
    ...(balance === null ? [] : [`Closing balance: ${formatUsd(balance.closingNanoUsd)} USD`]),
    '',
    ...(publicUrl === null ? [] : [`${publicUrl.replace(/\/$/, '')}/billing/statements/${month.name}`]),
  ]
  return {
    subject: `Statement ${number === null ? month.name : `${numberText(number)} of ${month.name}`}`,
    text: lines.join('\n'),
    attachment: {
      name: fileNameOf(statement, 'pdf'),
      type: 'application/pdf',
      base64: printed.toString('base64'),
    },
  }
}
