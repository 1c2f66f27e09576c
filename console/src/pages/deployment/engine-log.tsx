import { useEffect, useRef, useState } from 'react'
import { followLogs } from '../../api/deployment.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'

const LINES_MAX = 2_000

interface Log {
  readonly lines: readonly string[]
  readonly error: unknown
  readonly isOver: boolean
}

interface EngineLogProps {
  readonly id: string
  readonly status: string
}

/** What the engine writes, as it writes it. */
export function EngineLog(props: EngineLogProps) {
  const [turn, setTurn] = useState(0)
  return <FollowedLog key={`${props.id} ${turn}`} {...props} onRetry={() => setTurn(turn + 1)} />
}

function FollowedLog({ id, status, onRetry }: EngineLogProps & { readonly onRetry: () => void }) {
  const { lines, error, isOver } = useLog(id)
  const place = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    if (lines.length > 0 && isAtEnd.current && place.current)
      place.current.scrollTop = place.current.scrollHeight
  }, [lines])
  return (
    <div className="flex flex-col gap-3">
      {error !== null && <ErrorPanel title="The log could not be followed" error={error} onRetry={onRetry} />}
      {error === null && (
        <p role="status" className="text-xs text-ink-faint">
          {isOver ? `The log has ended. The deployment is ${status}.` : 'Following the log'}
        </p>
      )}
      <pre
        ref={place}
        tabIndex={0}
        aria-label="Log of the engine"
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight > scrollHeight - 24
        }}
        className="h-[50dvh] overflow-auto rounded-lg border border-line bg-surface p-4 font-mono text-xs/5 whitespace-pre-wrap -outline-offset-2"
      >
        {lines.length === 0 ? (
          <span className="text-ink-faint">The engine has written nothing yet.</span>
        ) : (
          lines.join('\n')
        )}
      </pre>
    </div>
  )
}

function useLog(id: string): Log {
  const [log, setLog] = useState<Log>({ lines: [], error: null, isOver: false })
  useEffect(() => {
    const stopping = new AbortController()
    const add = (line: string): void => {
      if (!stopping.signal.aborted)
        setLog((old) => ({ ...old, lines: [...old.lines, line].slice(-LINES_MAX) }))
    }
    const end = (error: unknown): void => {
      if (!stopping.signal.aborted) setLog((old) => ({ ...old, error, isOver: true }))
    }
    void readLog(id, stopping.signal, add).then(() => end(null), end)
    return () => stopping.abort()
  }, [id])
  return log
}

async function readLog(id: string, signal: AbortSignal, add: (line: string) => void): Promise<void> {
  for await (const line of followLogs(id, signal)) add(line)
}
