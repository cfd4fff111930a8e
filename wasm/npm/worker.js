import { load } from "./index.js";
import { serve } from "./serve.js";

const answer = serve(load, (message) => postMessage(message));
addEventListener("message", (event) => answer(event.data));
