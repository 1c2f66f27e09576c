import { clientCommand } from '../client-command.ts'
import { printTable } from '../output/tables/print-table.ts'
import { formatNumber } from '../output/format-number.ts'

interface TiersOptions {
  readonly live?: boolean
}

export const tiers = clientCommand<TiersOptions>({
  name: 'tiers',
  summary: 'List the GPUs that models can be deployed on.',
  example: 'parkway tiers --live',
  define: (command) => command.option('--live', 'ask the drivers now'),
  async act({ output, isJson, connect, printJsonLines }, { live }) {
    const gateway = connect()
    const { data } = await gateway.call((routes) =>
      live === true ? routes.GET('/v1/gpu-tiers/live') : routes.GET('/v1/gpu-tiers'),
    )
    if (isJson) return printJsonLines(data)
    if (data.length === 0) return output.note('The gateway offers no GPUs.')
    printTable(
      output,
      [
        { title: 'tier', of: ({ id }) => id },
        {
          title: 'gpu',
          of: (tier) => `${tier.gpu_count > 1 ? `${tier.gpu_count} × ` : ''}${tier.gpu_name}`,
          rank: 5,
          isText: true,
        },
        { title: 'memory GB', of: (tier) => String(tier.vram_gb), isNumber: true, rank: 3 },
        {
          title: '$ an hour',
          of: (tier) => formatNumber(tier.price_per_hour_usd, 2),
          isNumber: true,
          rank: 2,
        },
        { title: 'free', of: ({ capacity }) => capacity, isNumber: true, rank: 4 },
      ],
      data,
    )
  },
})
