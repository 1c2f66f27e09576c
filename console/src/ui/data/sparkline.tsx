interface SparklineProps {
  /** What the line shows, for screen readers. */
  readonly label: string
  readonly values: readonly number[]
}

const WIDTH = 240
const HEIGHT = 40

/** The course of a figure, without axes. The figure itself stands beside it. */
export function Sparkline({ label, values }: SparklineProps) {
  const highest = Math.max(...values, 0)
  const step = WIDTH / Math.max(1, values.length - 1)
  const points = values.map((value, index) => {
    const height = highest === 0 ? 0 : (value / highest) * (HEIGHT - 4)
    return `${(index * step).toFixed(1)},${(HEIGHT - 2 - height).toFixed(1)}`
  })
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      className="h-10 w-full"
    >
      <polygon points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} className="fill-accent-soft" />
      <polyline
        points={points.join(' ')}
        vectorEffect="non-scaling-stroke"
        className="fill-none stroke-accent stroke-[1.5]"
      />
    </svg>
  )
}
