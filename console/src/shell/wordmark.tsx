import { Link } from '@tanstack/react-router'

export function Wordmark() {
  return (
    <Link
      to="/"
      className="flex h-8 items-center gap-2 self-start rounded-md px-2 text-base font-semibold tracking-tight"
    >
      <img src="/favicon.svg" alt="" className="size-5" />
      Parkway
    </Link>
  )
}
