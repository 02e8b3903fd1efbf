"""The conversation of the demo: what Nora told her assistant in five weeks of a spring. Nora is made up.

One block a day; the line above it says when it began (UTC), and a message follows every minute.
"""

from __future__ import annotations

TALKS: tuple[tuple[str, str], ...] = (
    (
        "2026-03-02 18:10",
        """
        Nora: Hi! A friend said you remember things. Let's see :)
        Assistant: Hello! I do my best. Will you tell me a little about yourself?
        Nora: My name is Nora. I live in Bergen, up a hill with far too many stairs.
        Assistant: Nice to meet you, Nora. Your knees must be in great shape.
        Nora: Ha, you would think so.
        Assistant: And what fills your days?
        Nora: I work at Halden Maps. We draw hiking maps, and I do the contour lines.
        Assistant: So you know exactly where it gets steep.
        Nora: And my legs check the result on Sundays!
        Assistant: Quality control on foot. I like it.
        Nora: OK, dinner time. Bye for now!
        Assistant: Enjoy your meal!
        """,
    ),
    (
        "2026-03-05 07:40",
        """
        Nora: Good morning. Is it raining where you are too?
        Assistant: Good morning! No weather in here, only words.
        Nora: Lucky you. What can I put on bread besides jam?
        Assistant: Hummus, cheese, a sliced egg, or peanut butter.
        Nora: Not peanut butter, please! I am allergic to peanuts. It means hospital, not a rash.
        Assistant: Thank you for telling me. Not a trace of it, then.
        Nora: Exactly. Egg it is.
        Assistant: A good choice for a wet morning.
        """,
    ),
    (
        "2026-03-11 21:15",
        """
        Nora: hey, are you awake?
        Assistant: Always. What is on your mind?
        Nora: We got a dog! Well, my sister Ida did, but I walk him every Tuesday and Thursday.
        Assistant: Congratulations to Ida, and to you. What is his name?
        Nora: Biscuit. He is a beagle and he eats socks.
        Assistant: A beagle of refined taste.
        Nora: lol
        Assistant: Hide the good ones.
        Nora: Can you suggest a name for a lost-sock band?
        Assistant: The Missing Pairs.
        Nora: haha perfect, good night
        """,
    ),
    (
        "2026-03-15 10:05",
        """
        Nora: Sunday! I ran eleven kilometres along the fjord this morning.
        Assistant: That is a fine start. How do the legs feel?
        Nora: Like cooked spaghetti. My goal is the half marathon on 13 June.
        Assistant: Thirteen weeks. Plenty of time for a sensible plan.
        Nora: How many minutes does soft polenta need?
        Assistant: About thirty on a low heat, with a stir now and then.
        Nora: thanks
        Assistant: Any time.
        Nora: I love cinnamon in my coffee, by the way. Just so you know who you are dealing with.
        Assistant: Noted, with respect.
        """,
    ),
    (
        "2026-03-20 17:30",
        """
        Nora: What a day. Can I grumble a little?
        Assistant: Please do.
        Nora: They are moving my whole team to a building without windows.
        Assistant: A map maker without a view. That sounds hard.
        Nora: Right? So I answered an advert. I have an interview at Lumen Ferries on Tuesday at 9.
        Assistant: How exciting. What would you do there?
        Nora: Design the charts their captains steer by. Salt water instead of contour lines.
        Assistant: From hills to tides. Would you have to move?
        Nora: Yes, to Stavanger. Let's not get ahead of ourselves.
        Assistant: One tide at a time, then.
        """,
    ),
    (
        "2026-03-26 12:20",
        """
        Nora: Guess what!
        Assistant: You are going to tell me, I hope.
        Nora: I got the job! I start on Monday.
        Assistant: Congratulations! I am so happy for you.
        Nora: Thank you!! My mother cried, then asked who will carry her shopping.
        Assistant: A mother of clear priorities.
        Nora: Please remember that I owe Ida 400 kroner for the moving van.
        Assistant: Consider it written down.
        Nora: You're the best.
        """,
    ),
    (
        "2026-03-30 20:45",
        """
        Nora: First day done. I work at Lumen Ferries now, and they gave me a desk with a view of the harbour!
        Assistant: That settles the matter of windows. What are the people like?
        Nora: Kind, and loud. My boss Torunn sings in the corridor.
        Assistant: What does she sing?
        Nora: Mostly sea shanties. One gets used to it.
        Assistant: Soon you will hum along.
        Nora: From now on, give me distances in nautical miles. I need the practice.
        Assistant: Aye, nautical miles.
        Nora: Ha!
        """,
    ),
    (
        "2026-04-03 19:05",
        """
        Nora: It's official: keys, boxes, no curtains.
        Assistant: So you are there?
        Nora: I live in Stavanger now, on the ground floor. No more stairs!
        Assistant: Your knees will write you a thank-you card.
        Nora: Biscuit came for the first weekend and already ate a sock.
        Assistant: His way of warming a house.
        Nora: My mother is visiting on 18 April and I promised her a boat trip.
        Assistant: A lovely promise.
        Nora: What shall I cook tonight? Only one pan is unpacked.
        Assistant: Pasta with lemon and peas, all in the one pan.
        Nora: sounds good, thanks
        """,
    ),
    (
        "2026-04-06 17:30",
        """
        Nora: Hello again! Back from work.
        Assistant: Hello, Nora. How was Monday?
        Nora: Long. The ferry simulator crashed twice.
        Assistant: Better the simulator than the ferry.
        Nora: Haha, true.
        Nora: Before I forget it: the spare key is under the blue flowerpot by the shed.
        Assistant: Under the blue flowerpot. Got it.
        Nora: I have a dentist appointment on Thursday at 8.
        Assistant: Thursday at eight. Good luck!
        Nora: I planted tomatoes in the yard, from seeds that Torunn gave me.
        Assistant: May they outgrow the fence.
        Nora: I can't stand the smell of the new paint in the hallway.
        Assistant: An open window and a bowl of vinegar will help.
        Nora: Good idea. See you tomorrow!
        """,
    ),
)
"""When each talk began, and what was said."""
