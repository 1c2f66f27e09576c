export interface ToastContent {
  readonly title: string
  readonly description?: string | undefined
  readonly isFailure: boolean
}
