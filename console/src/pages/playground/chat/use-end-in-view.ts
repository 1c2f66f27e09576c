import { useEffect, useRef, type RefObject } from 'react'

const FOLLOWED_PX = 160

/**
 * Follows a conversation as it grows, unless the person has scrolled up to read. A new message is always shown.
 * @returns the ref of an element at the end of the conversation
 */
export function useEndInView(messageCount: number): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null)
  const isFollowing = useRef(true)
  useEffect(() => {
    const scroller = end.current?.closest('[role=log]')
    const content = end.current?.parentElement
    if (!scroller || !content) return undefined
    // The person decides by scrolling. A text that grows moves nothing, so it does not fire this.
    const note = (): void => {
      isFollowing.current = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < FOLLOWED_PX
    }
    const growth = new ResizeObserver(() => {
      if (isFollowing.current) scroller.scrollTop = scroller.scrollHeight
    })
    scroller.addEventListener('scroll', note)
    growth.observe(content)
    return () => {
      scroller.removeEventListener('scroll', note)
      growth.disconnect()
    }
  }, [])
  useEffect(() => {
    const scroller = end.current?.closest('[role=log]')
    if (!scroller || messageCount === 0) return
    isFollowing.current = true
    scroller.scrollTop = scroller.scrollHeight
  }, [messageCount])
  return end
}
