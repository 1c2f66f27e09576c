import type { ReactNode } from 'react'

interface FileLinkProps {
  readonly href: string
  /** What the file is, for screen readers. */
  readonly label: string
  readonly children: ReactNode
}

/** Downloads a file of the API. The browser writes it while it arrives, so that its size does not matter. */
export function FileLink({ href, label, children }: FileLinkProps) {
  return (
    <a href={href} download aria-label={label} className="text-accent underline">
      {children}
    </a>
  )
}
