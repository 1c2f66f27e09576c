import { Badge } from '../ui/text/badge.tsx'
import { Icon } from '../ui/icon.tsx'

/** Marks what a directory manages by SCIM. */
export function DirectoryMark() {
  return <Badge tone="accent">directory</Badge>
}

/** Says what the directory decides, and what is decided here. */
export function DirectoryNote({ children }: { readonly children: string }) {
  return (
    <p className="flex gap-2 rounded-md bg-sunken p-3 text-sm text-ink-soft">
      <Icon name="info" className="mt-0.5" />
      <span className="min-w-0">{children}</span>
    </p>
  )
}
