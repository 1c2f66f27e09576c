import { clientCommand } from '../../client-command.ts'
import { formatUsd } from '../../output/format-usd.ts'

export const redeem = clientCommand({
  name: 'redeem',
  summary: 'Redeem a promo code.',
  example: 'parkway redeem WELCOME-2030',
  define: (command) => command.argument('<code>', 'the promo code'),
  async act({ output, isJson, connect, printJson }, _, code = '') {
    const redeemed = await connect().call((routes) => routes.POST('/v1/promo/redeem', { body: { code } }))
    if (isJson) return printJson(redeemed)
    output.line(
      `Redeemed ${formatUsd(redeemed.amount_usd)}. The balance is ${formatUsd(redeemed.balance_usd)}.`,
    )
  },
})
