import { useEffect, useState } from 'react'
import { IconButton } from '../forms/icon-button.tsx'

interface CopyButtonProps {
  readonly text: string
  readonly label?: string | undefined
  readonly className?: string | undefined
}

const SHOWN_MS = 1500

export function CopyButton({ text, label = 'Copy', className }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <>
      <IconButton
        icon={isCopied ? 'check' : 'copy'}
        label={label}
        className={className}
        onClick={(event) => {
          // A row of a table opens on a click.
          event.stopPropagation()
          void navigator.clipboard.writeText(text).then(() => setIsCopied(true))
        }}
      />
      <span role="status" className="sr-only">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  )
}
