import { CopyButton } from './copy-button.tsx'

interface CopyableIdProps {
  readonly id: string
  /** What the id names, such as "key id". */
  readonly label?: string | undefined
  /** Shows the beginning only. The whole id is copied. */
  readonly isShort?: boolean | undefined
}

const SHORT_LENGTH = 13

export function CopyableId({ id, label = 'id', isShort }: CopyableIdProps) {
  const shown = isShort && id.length > SHORT_LENGTH ? `${id.slice(0, SHORT_LENGTH)}…` : id
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-0.5 align-bottom">
      <span className="truncate font-mono text-xs" title={id}>
        {shown}
      </span>
      <CopyButton text={id} label={`Copy ${label}`} className="-my-1" />
    </span>
  )
}
