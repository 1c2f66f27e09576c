import { seriesColour } from '../../ui/data/chart-series.ts'
import { formatShare } from '../../ui/format/format-count.ts'
import { useIsDark } from '../../ui/theme.ts'

export interface TradeOffPoint {
  readonly name: string
  /** Which colour it has. */
  readonly index: number
  readonly amount: number
  readonly quality: { readonly mean: number; readonly low: number; readonly high: number }
  readonly isChosen: boolean
}

interface TradeOffChartProps {
  readonly title: string
  readonly points: readonly TradeOffPoint[]
  readonly formatAmount: (amount: number) => string
}

const WIDTH = 480
const HEIGHT = 240
const LEFT = 44
const RIGHT = 16
const TOP = 12
const BOTTOM = 28
const QUALITY_LINES = [0, 0.25, 0.5, 0.75, 1]

/** Quality against what it costs: better is up, cheaper is left. Lines are 95 % intervals. */
export function TradeOffChart({ title, points, formatAmount }: TradeOffChartProps) {
  const isDark = useIsDark()
  const most = Math.max(...points.map(({ amount }) => amount)) * 1.15 || 1
  const x = (amount: number): number => LEFT + (amount / most) * (WIDTH - LEFT - RIGHT)
  const y = (quality: number): number => TOP + (1 - quality) * (HEIGHT - TOP - BOTTOM)
  const words = points.map(
    ({ name, amount, quality }) => `${name}: ${formatShare(quality.mean)}, ${formatAmount(amount)}`,
  )
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <figcaption className="text-sm font-medium">{title}</figcaption>
      <svg
        role="img"
        aria-label={`${title}. ${words.join('; ')}`}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className="w-full text-ink-faint"
      >
        {QUALITY_LINES.map((quality) => (
          <g key={quality}>
            <line x1={LEFT} x2={WIDTH - RIGHT} y1={y(quality)} y2={y(quality)} className="stroke-line" />
            <text x={LEFT - 6} y={y(quality) + 4} textAnchor="end" className="fill-current text-[11px]">
              {formatShare(quality)}
            </text>
          </g>
        ))}
        <text x={LEFT} y={HEIGHT - 6} className="fill-current text-[11px]">
          0
        </text>
        <text x={WIDTH - RIGHT} y={HEIGHT - 6} textAnchor="end" className="fill-current text-[11px]">
          {formatAmount(most)}
        </text>
        {points.map(({ name, index, amount, quality, isChosen }) => {
          const colour = seriesColour(index, isDark)
          return (
            <g key={name} stroke={colour} fill={colour}>
              <line
                x1={x(amount)}
                x2={x(amount)}
                y1={y(quality.low)}
                y2={y(quality.high)}
                strokeWidth={2}
                opacity={0.5}
              />
              <circle cx={x(amount)} cy={y(quality.mean)} r={isChosen ? 7 : 5} />
              {isChosen && (
                <circle cx={x(amount)} cy={y(quality.mean)} r={11} fill="none" strokeWidth={1.5} />
              )}
            </g>
          )
        })}
      </svg>
      <ul className="tabular flex flex-wrap gap-x-4 gap-y-1 text-xs text-ink-soft">
        {points.map(({ name, index, amount, quality, isChosen }) => (
          <li key={name} className="flex min-w-0 items-center gap-1.5">
            <span
              aria-hidden="true"
              className="size-2.5 shrink-0 rounded-full"
              style={{ backgroundColor: seriesColour(index, isDark) }}
            />
            <span className="truncate">
              {name}
              {isChosen && ' (take this)'}: {formatShare(quality.mean)}, {formatAmount(amount)}
            </span>
          </li>
        ))}
      </ul>
    </figure>
  )
}
