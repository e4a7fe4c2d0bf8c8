// The runs of this page: begun by a request, followed to their end, also after the page was loaded again, and cancelled.

import { session } from "./elements.js";
import * as server from "./server.js";

/** One request at a time. `changed` is called when runs begin or end, `heard` with each line of the newest request. */
export class Running {
  constructor(changed, heard) {
    this.changed = changed;
    this.heard = heard;
    this.now = null;
  }

  get isOn() {
    return this.now !== null;
  }

  /** How long the runs go on, in milliseconds. */
  get age() {
    return this.now ? performance.now() - this.now.begun : 0;
  }

  /** Begins runs in the place of those before. `shown` is the variant in sight. */
  start(request, shown) {
    this.cancel();
    const asked = { ...request, shown };
    return this.follow(request, (one, heard) => server.run(asked, one.aborter.signal, heard, (job) => {
      one.job = job;
      session.write("job", { job, request: JSON.stringify(request) });
      // Its number was not known yet when it was cancelled.
      if (one.isOver) this.end(one);
    }));
  }

  /** Goes on with the runs that this tab has begun before it was loaded again. Returns whether there are some. */
  async resume(request) {
    const before = session.read("job");
    if (before?.request !== JSON.stringify(request) || !await server.isKnown(before.job)) return false;
    await this.follow(request, (one, heard) => {
      one.job = before.job;
      return server.follow(before.job, one.aborter.signal, heard);
    });
    return true;
  }

  cancel() {
    const one = this.now;
    if (!one) return;
    one.isOver = true;
    this.now = null;
    session.write("job", null);
    if (one.job !== null) this.end(one);
    this.changed();
  }

  end(one) {
    one.aborter.abort();
    server.cancel(one.job).catch(() => { /* a server that does not answer runs nothing */ });
  }

  async follow(request, begin) {
    const one = this.now = { job: null, isOver: false, aborter: new AbortController(), begun: performance.now() };
    let hasEnded = false;
    this.changed();
    try {
      await begin(one, (line) => {
        if (one.isOver) return;
        if (line.result || line.error || line.refused || line.checked?.problems.length) hasEnded = true;
        this.heard(line, request, performance.now() - one.begun);
      });
      if (!hasEnded && !one.isOver) this.heard({ error: "the run ended without results" }, request, 0);
    } catch (error) {
      if (!one.isOver) throw error;
    } finally {
      if (this.now === one) {
        this.now = null;
        this.changed();
      }
    }
  }
}
