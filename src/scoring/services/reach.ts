import { toServiceError } from '../../wire/service-error';

const AWAY: ReadonlySet<string> = new Set(['service.unavailable', 'service.timeout']);

/** Whether the service answered when it was last asked for something. Nothing is asked for this alone. */
export class Reach {
  private failed = false;

  get isAway(): boolean {
    return this.failed;
  }

  /** Hears how a request ends. */
  async of<Answer>(request: Promise<Answer>): Promise<Answer> {
    try {
      const answer = await request;
      this.failed = false;
      return answer;
    } catch (error) {
      this.failed = AWAY.has(toServiceError(error).code);
      throw error;
    }
  }
}
