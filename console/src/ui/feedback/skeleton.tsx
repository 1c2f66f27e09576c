import { classNames } from '../class-names.ts'

/** The shape of what is being loaded. Give it the height of what will come, so that nothing moves. */
export function Skeleton({ className }: { readonly className?: string | undefined }) {
  return (
    <div
      aria-hidden="true"
      className={classNames('animate-pulse rounded-md bg-hover', className ?? 'h-5 w-full')}
    />
  )
}

/** Lines of a list that is being loaded. */
export function SkeletonRows({ count = 6 }: { readonly count?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2">
      {Array.from({ length: count }, (_, index) => (
        <Skeleton key={index} className="h-9 w-full" />
      ))}
    </div>
  )
}
