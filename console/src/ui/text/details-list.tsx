import { Fragment, type ReactNode } from 'react'

interface DetailsListProps {
  /** Values by name, in the order to read them. A value of null leaves the line out. */
  readonly details: Readonly<Record<string, ReactNode>>
}

/** The properties of one thing, a line each. */
export function DetailsList({ details }: DetailsListProps) {
  return (
    <dl className="grid grid-cols-[minmax(96px,max-content)_1fr] items-start gap-x-6 gap-y-1.5 text-sm/6">
      {Object.entries(details).map(([name, value]) =>
        value === null || value === undefined ? null : (
          <Fragment key={name}>
            <dt className="text-ink-soft">{name}</dt>
            <dd className="tabular min-w-0 break-words">{value}</dd>
          </Fragment>
        ),
      )}
    </dl>
  )
}
