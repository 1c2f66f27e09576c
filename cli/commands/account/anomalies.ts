import { clientCommand } from '../../client-command.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'
import { printTable } from '../../output/tables/print-table.ts'

export const anomalies = clientCommand({
  name: 'anomalies',
  summary: 'Compare what the day costs with the same weekdays before, and show what is unusual.',
  example: 'parkway anomalies',
  async act({ output, isJson, connect, printJson }) {
    const compared = await connect().call((routes) => routes.GET('/v1/usage/anomalies'))
    if (isJson) return printJson(compared)
    const { anomaly, spent_usd: spent, usual_usd: usual, weekdays } = compared
    printPairs(output, [
      ['until', `${compared.to.slice(0, 16).replace('T', ' ')} UTC`],
      ['this day', formatUsd(spent)],
      ['usually', `${formatUsd(usual)}, by ${weekdays} weekdays before`],
      ['unusual', anomaly === null ? 'no' : anomaly.summary],
    ])
    if (anomaly === null) return
    output.line('')
    printTable(
      output,
      [
        { title: 'what', of: ({ dimension }) => dimension },
        { title: 'name', of: ({ name, id }) => name ?? id, isText: true },
        { title: 'this day', of: ({ spent_usd: usd }) => formatUsd(usd), isNumber: true, rank: 1 },
        { title: 'usually', of: ({ usual_usd: usd }) => formatUsd(usd), isNumber: true, rank: 2 },
        {
          title: 'of the difference',
          of: ({ share }) => `${Math.round(share * 100)} %`,
          isNumber: true,
          rank: 3,
        },
      ],
      anomaly.causes,
    )
  },
})
