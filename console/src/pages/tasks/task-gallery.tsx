import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Task } from '../../api/tasks.ts'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
import { TaskCard } from './task-card.tsx'

export interface TaskListProps {
  readonly tasks: readonly Task[]
  readonly onOpen: (task: Task) => void
  readonly onEnd: (() => void) | undefined
  readonly isLoadingMore: boolean
  /** There are more, even if they cannot be asked for now. */
  readonly hasMore: boolean
}

const CARD_WIDTH_MIN_PX = 232
const GAP_PX = 16
const ROW_HEIGHT_PX = 260
const ROWS_AHEAD = 2

/** Cards of tasks. Only the rows in view are rendered, so that the account may have any number of them. */
export function TaskGallery({ tasks, onOpen, onEnd, isLoadingMore }: TaskListProps) {
  const place = useRef<HTMLUListElement>(null)
  const { columnCount, offsetPx } = useGrid(place)
  const rowCount = Math.ceil(tasks.length / columnCount)
  // oxlint-disable-next-line react/incompatible-library -- nothing of it is passed to a memoised component
  const virtual = useVirtualizer({
    count: rowCount,
    getScrollElement: () => document.getElementById('page'),
    estimateSize: () => ROW_HEIGHT_PX + GAP_PX,
    overscan: ROWS_AHEAD,
    scrollMargin: offsetPx,
  })
  const items = virtual.getVirtualItems()
  const isAtEnd = (items.at(-1)?.index ?? -1) >= rowCount - 1
  useEffect(() => {
    if (isAtEnd && !isLoadingMore) onEnd?.()
  }, [isAtEnd, isLoadingMore, onEnd])
  return (
    <>
      <ul
        ref={place}
        aria-label="Tasks"
        className="relative"
        style={{ height: virtual.getTotalSize() - GAP_PX }}
      >
        {items.flatMap(({ index, start }) =>
          tasks.slice(index * columnCount, (index + 1) * columnCount).map((task, column) => (
            <li
              key={task.id}
              className="absolute"
              style={{
                top: start - offsetPx,
                height: ROW_HEIGHT_PX,
                width: `calc((100% - ${(columnCount - 1) * GAP_PX}px) / ${columnCount})`,
                left: `calc((100% + ${GAP_PX}px) / ${columnCount} * ${column})`,
              }}
            >
              <TaskCard task={task} onOpen={onOpen} />
            </li>
          )),
        )}
      </ul>
      {isLoadingMore && (
        <p role="status" className="text-xs text-ink-faint">
          Loading more…
        </p>
      )}
    </>
  )
}

/** How many cards fit beside each other, and where the gallery begins in the page. */
function useGrid(place: React.RefObject<HTMLElement | null>): { columnCount: number; offsetPx: number } {
  const [grid, setGrid] = useState({ columnCount: 4, offsetPx: 0 })
  useLayoutEffect(() => {
    const element = place.current
    if (element === null) return
    const measure = (): void => {
      const columnCount = Math.max(
        1,
        Math.floor((element.clientWidth + GAP_PX) / (CARD_WIDTH_MIN_PX + GAP_PX)),
      )
      setGrid((old) =>
        old.columnCount === columnCount && old.offsetPx === element.offsetTop
          ? old
          : { columnCount, offsetPx: element.offsetTop },
      )
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [place])
  return grid
}

export function GallerySkeleton() {
  return (
    <div
      role="status"
      aria-label="Loading"
      className="grid grid-cols-[repeat(auto-fill,minmax(232px,1fr))] gap-4"
    >
      {Array.from({ length: 8 }, (_, index) => (
        <Skeleton key={index} className="h-65 w-full" />
      ))}
    </div>
  )
}
