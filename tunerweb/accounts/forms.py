"""The only gate for what people type."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from tunerweb.accounts.models import Team, User

PASSWORD_HELP = "At least 10 characters, not a common word and not only digits."
LONGEST_PASSWORD = 1000
# Names stand in tables and in the head of each page.
LONGEST_NAME = 64
Errors = dict[str, str]


def too_long(what: str, most: int) -> Errors:
    return {
        "max_length": f"{what} can be at most {most} characters long; this one has %(show_value)d.",
        "required": f"{what} is missing.",
        "null_characters_not_allowed": f"{what} contains a character that cannot be stored.",
    }


def new_password_field(label: str) -> forms.CharField:
    return forms.CharField(
        label=label,
        strip=False,
        max_length=LONGEST_PASSWORD,
        help_text=PASSWORD_HELP,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages=too_long("The password", LONGEST_PASSWORD),
    )


def again_field() -> forms.CharField:
    return forms.CharField(
        label="The same password again",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        error_messages={"required": "Type the password a second time."},
    )


def name_field(label: str, what: str, **more: Any) -> forms.CharField:
    return forms.CharField(label=label, max_length=100, error_messages=too_long(what, 100), **more)


class StyledForm(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            look = "form-select" if isinstance(field, forms.ChoiceField) else "form-control"
            field.widget.attrs.setdefault("class", look)


class NewPasswordForm(StyledForm):
    """Checks `password` and `again` for the person that `person()` gives."""

    def person(self) -> User:
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        password, again = cleaned.get("password"), cleaned.get("again")
        if password:
            try:
                validate_password(password, self.person())
            except ValidationError as error:
                self.add_error("password", error)
        if password and again and password != again:
            self.add_error("again", "The two passwords differ.")
        return cleaned


class NewUserForm(NewPasswordForm):
    username = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        validators=User._meta.get_field("username").validators[:1],
        help_text="Letters, digits and @ . + - _ without spaces. You sign in with it, and the team sees it.",
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages=too_long("A name", LONGEST_NAME)
        | {"invalid": "A name can have letters, digits and @ . + - _ and no spaces."},
    )
    password = new_password_field("Password")
    again = again_field()

    def person(self) -> User:
        return User(username=self.cleaned_data.get("username", ""))

    def clean_username(self) -> str:
        username: str = User.normalize_username(self.cleaned_data["username"])
        if User.objects.filter(username__iexact=username).exists():
            raise ValidationError("Somebody has this name already: choose another one.")
        return username


class SetupForm(NewUserForm):
    team_name = name_field(
        "Team", "A team's name", help_text="Models, configs and sweeps belong to a team. You can invite others to it."
    )


class SignInForm(StyledForm):
    username = forms.CharField(
        label="Name",
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false", "autofocus": True}
        ),
        error_messages={"required": "Type your name."},
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Type your password."},
    )


class PasswordForm(NewPasswordForm):
    old = forms.CharField(
        label="Password now",
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Type the password that you sign in with now."},
    )
    password = new_password_field("New password")
    again = again_field()

    def __init__(self, user: User, *args: Any, asks_old: bool = True, **kwargs: Any) -> None:
        self.user = user
        super().__init__(*args, **kwargs)
        if not asks_old:
            del self.fields["old"]

    def person(self) -> User:
        return self.user

    def clean_old(self) -> str:
        old: str = self.cleaned_data["old"]
        if len(old) > LONGEST_PASSWORD or not self.user.check_password(old):
            raise ValidationError("This is not the password that you sign in with now.")
        return old


class TokenForm(StyledForm):
    name = name_field("Name", "A token's name", help_text="What will use it, such as “nightly build”.")
    team = forms.ModelChoiceField(
        Team.objects.none(),
        label="Team",
        to_field_name="public_id",
        empty_label=None,
        error_messages={"invalid_choice": "You are not in this team.", "required": "Choose a team."},
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        team = self.fields["team"]
        assert isinstance(team, forms.ModelChoiceField)
        team.queryset = user.teams.order_by("membership__created_at")
        team.initial = team.queryset.first()
        if team.queryset.count() == 1:
            team.widget = team.hidden_widget()


class InvitationForm(StyledForm):
    label = name_field("For whom", "This", help_text="A note for your team: who will get the link. It decides nothing.")
