import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent, type ReactNode } from 'react'
import { MODEL_KINDS, type Model } from '../../../api/model-kinds.ts'
import { sendOperation } from '../../../api/send-operation.ts'
import type { ApiCall } from '../../../snippets/api-call.ts'
import { ShowCodeDialog } from '../../../snippets/show-code-dialog.tsx'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { EmptyState } from '../../../ui/feedback/empty-state.tsx'
import { Skeleton } from '../../../ui/feedback/skeleton.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { formatPrice } from '../../../ui/format/format-price.ts'
import { formatUsd } from '../../../ui/format/format-usd.ts'
import { Page } from '../../../ui/layout/page.tsx'
import { PageHeader } from '../../../ui/layout/page-header.tsx'
import { Section } from '../../../ui/layout/section.tsx'
import { estimateCostUsd } from '../estimate-cost.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import { readAskAboveUsd } from './ask-above.ts'
import { buildOperation, isComplete, valueOf, type FormFiles } from './build-operation.ts'
import { CostQuestion } from './cost-question.tsx'
import { FormField } from './form-field.tsx'
import { KIND_FORMS } from './kind-forms.ts'
import { OperationResult } from './operation-result.tsx'

interface KindPanelProps {
  readonly model: Model
  readonly search: PlaygroundSearch
  readonly onSearch: (change: PlaygroundSearch) => void
  readonly picker: ReactNode
}

/** Tries a model that is not for chat: a form at the left, its result at the right. */
export function KindPanel({ model, search, onSearch, picker }: KindPanelProps) {
  const form = model.category === 'llm' ? null : KIND_FORMS[model.category]
  const [files, setFiles] = useState<FormFiles>({})
  const [code, setCode] = useState<ApiCall | null>(null)
  const [isAsking, setIsAsking] = useState(false)
  const queryClient = useQueryClient()
  const values = search.form ?? {}
  const sent = useMutation({
    mutationFn: (operation: ReturnType<typeof buildOperation>) =>
      sendOperation(operation, new AbortController().signal),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['account'] }),
  })
  if (form === null) return null
  const operation = buildOperation(form, model.id, values, files)
  const costUsd = estimateCostUsd(model, operation.body, Object.keys(files).length)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (costUsd !== null && costUsd > readAskAboveUsd()) setIsAsking(true)
    else sent.mutate(operation)
  }
  const setFile = (name: string, file: Blob | null): void =>
    setFiles((old) => {
      const { [name]: _, ...others } = old
      return file === null ? others : { ...others, [name]: file }
    })
  return (
    <Page isWide>
      <PageHeader
        title="Playground"
        description={`${MODEL_KINDS[model.category]}: ${formatPrice(model)}`}
        actions={
          <>
            {picker}
            <Button icon="code" onClick={() => setCode(toCall(operation, form.savedAs))}>
              Show code
            </Button>
          </>
        }
      />
      <div className="grid items-start gap-6 lg:grid-cols-[22rem_1fr]">
        <Section>
          <form className="flex flex-col gap-4" onSubmit={submit}>
            {form.fields.map((field) => (
              <FormField
                key={field.name}
                field={field}
                value={valueOf(field, values)}
                files={files}
                onChange={(value) => onSearch({ form: { ...values, [field.name]: value } })}
                onFile={setFile}
              />
            ))}
            <Button
              kind="primary"
              type="submit"
              isBusy={sent.isPending}
              disabled={!isComplete(form, values, files)}
            >
              {form.action}
            </Button>
            {costUsd !== null && costUsd > 0 && (
              <p className="text-xs text-ink-soft">About {formatUsd(costUsd)}.</p>
            )}
          </form>
        </Section>
        <div aria-live="polite" className="min-w-0">
          {sent.isIdle && (
            <EmptyState icon="play" title="Nothing yet">
              Fill in the form and send it. The result appears here.
            </EmptyState>
          )}
          {sent.isPending && <Skeleton className="h-64 w-full" />}
          {sent.error && <ErrorPanel title="The request failed" error={sent.error} />}
          {sent.data && (
            <OperationResult category={model.category} answer={sent.data} texts={sent.variables.body} />
          )}
        </div>
      </div>
      {isAsking && costUsd !== null && (
        <CostQuestion
          costUsd={costUsd}
          what={`${model.display_name}: ${formatPrice(model)}.`}
          action={form.action}
          onConfirm={() => sent.mutate(operation)}
          onClose={() => setIsAsking(false)}
        />
      )}
      {code && <ShowCodeDialog call={code} isOpen onClose={() => setCode(null)} />}
    </Page>
  )
}

function toCall(
  { path, body, files }: ReturnType<typeof buildOperation>,
  savedAs: string | undefined,
): ApiCall {
  const names = Object.entries(files).map(([field, file]) => [
    field,
    file instanceof File ? file.name : `${field}.png`,
  ])
  return { path, body, files: Object.fromEntries(names), savedAs }
}
