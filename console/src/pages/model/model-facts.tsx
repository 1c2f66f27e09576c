import type { ReactNode } from 'react'
import type { Model } from '../../api/model-kinds.ts'
import { formatCount } from '../../ui/format/format-count.ts'
import { Section } from '../../ui/layout/section.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { Time } from '../../ui/text/time.tsx'

export function ModelFacts({ model }: { readonly model: Model }) {
  return (
    <Section title="What it is">
      <dl className="grid grid-cols-[max-content_1fr] items-center gap-x-6 gap-y-2 text-sm">
        <Fact name="Id">
          <CopyableId id={model.id} label="model id" />
        </Fact>
        {model.aliases.length > 0 && <Fact name="Also called">{model.aliases.join(', ')}</Fact>}
        <Fact name="State">
          {model.is_ready ? (
            <Badge tone={model.provider === 'sandbox' ? 'plain' : 'good'}>
              {model.provider === 'sandbox' ? 'sandbox' : 'ready'}
            </Badge>
          ) : (
            <Badge tone="warn">not ready</Badge>
          )}{' '}
          <span className="text-ink-soft">{model.not_ready_reason}</span>
        </Fact>
        <Fact name="Served by">
          {model.source === 'dedicated' ? 'a deployment of yours' : model.provider}
        </Fact>
        {model.context_tokens !== null && (
          <Fact name="Context">{formatCount(model.context_tokens)} tokens</Fact>
        )}
        {model.max_output_tokens !== null && (
          <Fact name="Longest answer">{formatCount(model.max_output_tokens)} tokens</Fact>
        )}
        {model.dimensions !== null && <Fact name="Dimensions">{formatCount(model.dimensions)}</Fact>}
        <Fact name="Route">
          <span className="font-mono text-xs">POST {model.endpoint}</span>
        </Fact>
        <Fact name="Published">
          <Time at={model.created * 1000} />
        </Fact>
        <Fact name="Can">
          <span className="flex flex-wrap gap-1">
            {model.capabilities.map((tag) => (
              <Badge key={tag}>{tag.replaceAll('_', ' ')}</Badge>
            ))}
          </span>
        </Fact>
      </dl>
    </Section>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-soft">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  )
}
